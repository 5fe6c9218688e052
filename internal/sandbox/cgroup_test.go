package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestPlanGroups(t *testing.T) {
	const v1 = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
		"39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
	const v1self = "4:memory:/a/b\n8:pids:/\n2:cpu,cpuacct:/a\n0::/x\n"
	const v2 = "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	const inDocker = "35 31 0:32 /docker/c0ffee /sys/fs/cgroup/memory ro shared:1 - cgroup cgroup rw,memory\n"
	for name, c := range map[string]struct {
		mounts, self, available string
		want                    groupPlan
		err                     string
	}{
		"v1":                        {v1, v1self, "", groupPlan{1, "/sys/fs/cgroup", map[string]string{"memory": "/a/b", "pids": "/"}}, ""},
		"v2":                        {v2, "0::/system.slice/gateway.service\n", "cpu memory pids", groupPlan{2, "/sys/fs/cgroup", map[string]string{"memory": "/system.slice/gateway.service"}}, ""},
		"v2 without the controller": {v2, "0::/\n", "cpu", groupPlan{}, "no memory controller"},
		"both, memory in v1":        {v1 + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n", v1self, "hugetlb", groupPlan{1, "/sys/fs/cgroup", map[string]string{"memory": "/a/b", "pids": "/"}}, ""},
		"v1 in a container":         {inDocker, "4:memory:/docker/c0ffee\n", "", groupPlan{1, "/sys/fs/cgroup", map[string]string{"memory": "/"}}, ""},
		"outside of the mount":      {inDocker, "4:memory:/docker/c0ffeebabe\n", "", groupPlan{}, "lies outside"},
		"above the namespace":       {v2, "0::/../other\n", "memory", groupPlan{}, "no memory controller"},
		"nothing":                   {"", "0::/\n", "", groupPlan{}, "no memory controller"},
		"odd place":                 {"35 31 0:32 / /cg/mem rw - cgroup cgroup rw,memory\n", "4:memory:/\n", "", groupPlan{}, "not under its own name"},
		"nonsense":                  {"x y z\n - \n", "a\nb:c\n", "", groupPlan{}, "no memory controller"},
	} {
		got, err := planGroups(c.mounts, c.self, func(string) string { return c.available })
		if c.err == "" && (err != nil || !reflect.DeepEqual(got, c.want)) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %+v, %v; want %+v, %q", name, got, err, c.want, c.err)
		}
	}
}

// groups opens a parent, or skips loudly where this user may not.
func groups(t *testing.T) *Groups {
	t.Helper()
	g, err := OpenGroups("test")
	if err != nil {
		t.Skipf("SKIPPED LOUDLY: no control groups here: %v", err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		for _, c := range g.plan.controllers() {
			if _, err := os.Stat(g.dir(c, "")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the %s group is still there: %v", c, err)
			}
		}
	})
	return g
}

// idle starts a process that waits for a line before it does what mode says.
func idle(t *testing.T, mode string) (*exec.Cmd, func() *os.ProcessState) {
	t.Helper()
	cmd := exec.Command(self(t), "inside:group", mode)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, func() *os.ProcessState {
		fmt.Fprintln(in)
		_ = cmd.Wait()
		return cmd.ProcessState
	}
}

// grouped plays what runs in a group: 0 when all went through, 3 when a process
// was refused.
func grouped(mode string) int {
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return 2
	}
	switch mode {
	case "eat":
		var kept [][]byte
		for range 256 {
			b := make([]byte, 1<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			kept = append(kept, b)
		}
		return len(kept) - 256
	case "fork":
		for range 64 {
			cmd := exec.Command("/proc/self/exe", "inside:sleep")
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
			if err := cmd.Start(); err != nil {
				return 3
			}
		}
	}
	return 0
}

func TestGroupEndsWhoUsesTooMuchMemory(t *testing.T) {
	g := groups(t)
	for name, c := range map[string]struct {
		limit  GroupLimits
		signal syscall.Signal
		kills  uint64
	}{"limited": {GroupLimits{Memory: 64 << 20}, unix.SIGKILL, 1}, "not limited": {GroupLimits{}, 0, 0}} {
		child, err := g.New(strings.ReplaceAll(name, " ", "-"), c.limit)
		if err != nil {
			t.Fatal(err)
		}
		cmd, run := idle(t, "eat")
		if err := child.Add(cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
		state := run()
		kills, err := child.Kills()
		if err != nil {
			t.Fatal(err)
		}
		status := state.Sys().(syscall.WaitStatus)
		if kills != c.kills || c.signal != 0 && status.Signal() != c.signal || c.signal == 0 && state.ExitCode() != 0 {
			t.Errorf("%s: %v, %d ended for memory", name, state, kills)
		}
		if err := child.Remove(); err != nil {
			t.Error(err)
		}
	}
}

func TestGroupBoundsTasks(t *testing.T) {
	g := groups(t)
	if !strings.Contains(strings.Join(g.Controls(), " "), pidsController) {
		t.Skip("SKIPPED LOUDLY: no pids controller here")
	}
	child, err := g.New("one", GroupLimits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []GroupLimits{{Memory: 64 << 20}, {Memory: 128 << 20, Tasks: 64}, {Memory: 2 << 30, Tasks: 32}} {
		if err := child.Limit(l); err != nil {
			t.Fatalf("%+v: %v", l, err)
		}
	}
	cmd, run := idle(t, "fork")
	if err := child.Add(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if state := run(); state.ExitCode() != 3 {
		t.Errorf("32 tasks did not bound 64 processes: %v", state)
	}
	_, run = idle(t, "fork")
	if state := run(); state.ExitCode() != 0 {
		t.Errorf("64 processes without a group: %v", state)
	}
}

func TestGroupKillTakesAll(t *testing.T) {
	g := groups(t)
	child, err := g.New("one", GroupLimits{})
	if err != nil {
		t.Fatal(err)
	}
	cmd, _ := idle(t, "")
	pidfd, err := unix.PidfdOpen(cmd.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(pidfd), "pidfd")
	defer file.Close()
	if err := child.AddPIDFD(file); err != nil {
		t.Fatal(err)
	}
	if err := child.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != unix.SIGKILL {
		t.Errorf("killed: %v", cmd.ProcessState)
	}
	if err := child.AddPIDFD(file); err == nil {
		t.Error("a process that has ended was moved")
	}
}

// TestGroupsSweep: what a maker left that is gone is removed, with what lives in
// it; what a living maker has stays.
func TestGroupsSweep(t *testing.T) {
	living := groups(t)
	left, err := OpenGroups("left")
	if err != nil {
		t.Fatal(err)
	}
	child, err := left.New("one", GroupLimits{})
	if err != nil {
		t.Fatal(err)
	}
	cmd, _ := idle(t, "")
	if err := child.Add(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	left.release() // as its death would
	groups(t)
	for _, c := range living.plan.controllers() {
		if _, err := os.Stat(left.dir(c, "")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("what was left is still there: %v", err)
		}
		if _, err := os.Stat(living.dir(c, "")); err != nil {
			t.Errorf("a living maker's group is gone: %v", err)
		}
	}
	_ = cmd.Wait()
}

// TestUnifiedWrites: on a tree of plain files, which figures go where. Version 2
// itself is not on every machine.
func TestUnifiedWrites(t *testing.T) {
	root := t.TempDir()
	p := groupPlan{version: 2, root: root, own: map[string]string{memoryController: "/own"}}
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("own/cgroup.controllers", "cpu memory pids")
	put("own/cgroup.subtree_control", "")
	// Those that the kernel would have made: what is written makes none that its
	// writer could read again without being root.
	for _, file := range []string{"memory.max", "memory.oom.group", "cgroup.procs"} {
		put("own/sluice-x/one/"+file, "")
	}
	for file, text := range map[string]string{"memory.swap.max": "", "pids.max": "", "memory.events": "low 0\noom 2\noom_kill 1\n"} {
		put("own/sluice-x/one/"+file, text)
	}
	if err := enable(path.Join(root, "own")); err != nil {
		t.Fatal(err)
	}
	h, err := unified{p}.make(map[string]string{memoryController: "/own/sluice-x/one"}, GroupLimits{Memory: 1 << 30, Tasks: 17})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.add(4711); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"cgroup.subtree_control": "+memory +pids", "sluice-x/one/memory.max": "1073741824", "sluice-x/one/memory.swap.max": "0",
		"sluice-x/one/pids.max": "17", "sluice-x/one/memory.oom.group": "1", "sluice-x/one/cgroup.procs": "4711",
	} {
		if got, err := os.ReadFile(path.Join(root, "own", file)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v; want %q", file, got, err, want)
		}
	}
	if err := h.spare(); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(path.Join(root, "own", "sluice-x/one/memory.oom.group")); err != nil || string(got) != "0" {
		t.Errorf("spared: %q, %v", got, err)
	}
	if n, err := h.kills(); err != nil || n != 1 {
		t.Errorf("%d ended for memory, %v", n, err)
	}
	inLeaf := groupPlan{version: 2, root: root, own: map[string]string{memoryController: "/own/sluice-x/" + groupMain}}
	if got, err := settle(inLeaf); err != nil || got.own[memoryController] != "/own/sluice-x" {
		t.Errorf("from the leaf: %+v, %v", got, err)
	}
}

func BenchmarkGroup(b *testing.B) {
	g, err := OpenGroups("bench")
	if err != nil {
		b.Skip(err)
	}
	defer g.Close()
	for i := range b.N {
		child, err := g.New(strconv.Itoa(i), GroupLimits{Memory: 1 << 30, Tasks: 16})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := child.Kills(); err != nil {
			b.Fatal(err)
		}
		if err := child.Remove(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestCommandHasAGroup: a command runs in a group of its own, which goes with it.
func TestCommandHasAGroup(t *testing.T) {
	groups(t)
	l, err := Plan(Spec{Path: self(t), Args: []string{self(t), "inside:sleep"}, Group: "one", GroupLimits: GroupLimits{Memory: 256 << 20}}, Probe())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Require("cgroup"); err != nil {
		t.Fatal(err)
	}
	p, err := l.Start()
	if err != nil {
		t.Fatal(err)
	}
	pids, err := pidsUnder(p.group.dir(memoryController, groupMain))
	if err != nil || len(pids) != 1 || pids[0] != p.PID() {
		t.Errorf("the group holds %v, %v; want %d", pids, err, p.PID())
	}
	p.Kill()
	p.Wait()
	if _, err := os.Stat(p.group.dir(memoryController, "")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the command's group is still there: %v", err)
	}
}

// TestSweepKeepsTheLiving: two makers that share a group in one controller's tree
// alone do not take each other for gone.
func TestSweepKeepsTheLiving(t *testing.T) {
	living := groups(t)
	if len(living.plan.controllers()) < 2 {
		t.Skip("SKIPPED LOUDLY: one tree alone here")
	}
	elsewhere := groupPlan{version: 1, root: living.plan.root, own: map[string]string{memoryController: "/nowhere/else", pidsController: living.plan.own[pidsController]}}
	elsewhere.sweep()
	for _, c := range living.plan.controllers() {
		if _, err := os.Stat(living.dir(c, "")); err != nil {
			t.Errorf("a living maker's %s group is gone: %v", c, err)
		}
	}
}

// TestGroupLimitsGoUpAndDown: version 1 wants its two bounds of memory written in
// an order that depends on the direction.
func TestGroupLimitsGoUpAndDown(t *testing.T) {
	child, err := groups(t).New("one", GroupLimits{Memory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, most := range []uint64{128 << 20, 32 << 20, 1 << 30} {
		if err := child.Limit(GroupLimits{Memory: most, Tasks: 8}); err != nil {
			t.Errorf("to %d MiB: %v", most>>20, err)
		}
	}
}
