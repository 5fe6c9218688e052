package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/sandbox"
)

// stands tells whether a wall is in force around p's programs.
func (p *plugin) stands(wall string) bool {
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	return p.pool.current != nil && slices.Contains(p.pool.current.walls(), wall)
}

// call is the text of a program that makes a system call by its number and says
// what came of it.
func call(number int, args string) string {
	return fmt.Sprintf("import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\ngot = libc.syscall(%d, %s)\nprint('came back', got, ctypes.get_errno())", number, args)
}

// TestWallOfCalls: with the wall a forbidden call ends the program and has its
// name; without it the call comes back, so that the test can fail.
func TestWallOfCalls(t *testing.T) {
	up, down := start(t, nil), startLess(t, nil, lessened{without: []string{wallSeccomp}})
	if !up.stands(wallSeccomp) || down.stands(wallSeccomp) {
		t.Fatal("the wall cannot be had here, or not be left out")
	}
	named := up.pool.ground.offer.Notify
	foreign := filtered(t) // with EPERM, which has precedence over ours
	for _, tc := range []struct{ call, code string }{
		{"socket", "import socket\nsocket.socket()\nprint('came back')"},
		{"socketpair", "import socket\nsocket.socketpair()\nprint('came back')"},
		{"clone", "import os\nif os.fork() == 0: os._exit(0)\nprint('came back')"},
		{"execve", "import os\ntry: os.execv('/nothing', ['x'])\nexcept OSError: print('came back')"},
		{"kill", "import os\ntry: os.kill(1, 0)\nexcept OSError: pass\nprint('came back')"},
		{"pidfd_open", "import os\ntry: os.pidfd_open(1)\nexcept OSError: pass\nprint('came back')"},
		{"memfd_create", "import os\nos.memfd_create('x')\nprint('came back')"},
		{"ptrace", call(unix.SYS_PTRACE, "16, 1, 0, 0")},
		{"process_vm_readv", call(unix.SYS_PROCESS_VM_READV, "1, 0, 0, 0, 0, 0")},
		{"mount", call(unix.SYS_MOUNT, "0, 0, 0, 0, 0")},
		{"unshare", call(unix.SYS_UNSHARE, "0x10000000")},
		{"setns", call(unix.SYS_SETNS, "0, 0")},
		{"io_uring_setup", call(unix.SYS_IO_URING_SETUP, "0, 0")},
		{"bpf", call(unix.SYS_BPF, "0, 0, 0")},
		{"userfaultfd", call(unix.SYS_USERFAULTFD, "0")},
		{"keyctl", call(unix.SYS_KEYCTL, "0, 0, 0, 0, 0")},
	} {
		o := run(t, up, tc.code, granted())
		want := ""
		if named {
			want = tc.call
		}
		if foreign && o.stdout == "came back -1 1\n" {
			continue // refused before it came to ours
		}
		if o.status() != executor.StatusCrashed || o.ForbiddenCall != want || strings.Contains(o.stdout, "came back") {
			t.Errorf("%s: %v, named %q, %q", tc.call, o.status(), o.ForbiddenCall, o.stdout)
		}
		if o := run(t, down, tc.code, granted()); !strings.Contains(o.stdout, "came back") || o.ForbiddenCall != "" {
			t.Errorf("%s without the wall: %v, named %q, %q %+v", tc.call, o.status(), o.ForbiddenCall, o.stdout, o.Problem)
		}
	}
}

// filtered tells whether this process, as in a container, is behind a filter that
// is not this package's.
func filtered(tb testing.TB) bool {
	tb.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Contains(string(status), "\nSeccomp:\t2")
}

// TestWallOfFiles: a program reads the interpreter's own files and no others,
// by either of two walls.
func TestWallOfFiles(t *testing.T) {
	secret := t.TempDir() + "/secret"
	if err := os.WriteFile(secret, []byte("canary"), 0o644); err != nil { //nolint:gosec // everyone may read it: that is the point
		t.Fatal(err)
	}
	code := fmt.Sprintf("for name in (%q, '/etc/passwd', '/proc/1/environ', '/proc/self/environ'):\n    try: print(name, len(open(name).read()))\n    except OSError as e: print('refused')\nprint(len(open(__import__('json').__file__).read()) > 0)", secret)
	for _, without := range [][]string{nil, {wallLandlock}, {wallRoot}, {wallLandlock, wallRoot}} {
		p := startLess(t, nil, lessened{without: without})
		if !p.stands(wallLandlock) && !p.stands(wallRoot) && len(without) < 2 {
			continue // this host has the one that was left out alone
		}
		o := run(t, p, code, granted())
		walled := o.stdout == strings.Repeat("refused\n", 4)+"True\n"
		if want := len(without) < 2; walled != want {
			t.Errorf("without %v: %q %+v", without, o.stdout, o.Problem)
		}
	}
}

// TestScratch: /tmp is each program's own, bounded, and gone afterwards; where
// it cannot be its own there is none.
func TestScratch(t *testing.T) {
	p := start(t, map[string]any{"scratch_bytes_default": 1 << 20})
	write := "open('/tmp/left', 'w').write('by the one before')\nprint(open('/tmp/left').read())"
	o := run(t, p, write, granted())
	if !p.stands(wallNamespaces) {
		if o.status() != executor.StatusRuntimeError {
			t.Errorf("a /tmp of all: %v %q", o.status(), o.stdout)
		}
		return
	}
	if o.stdout != "by the one before\n" {
		t.Fatalf("%v %q %+v", o.status(), o.stdout, o.Problem)
	}
	for range 4 { // more than there are waiting children
		if o := run(t, p, "import os\nprint(os.listdir('/tmp'))", granted()); strings.Contains(o.stdout, "left") {
			t.Errorf("it is still there: %q", o.stdout)
		}
	}
	o = run(t, p, "import errno\ntry:\n    for n in range(64):\n        open('/tmp/%d' % n, 'wb').write(bytes(1 << 16))\nexcept OSError as e: print(e.errno == errno.ENOSPC)", granted())
	if o.stdout != "True\n" {
		t.Errorf("4 MiB fit into 1 MiB: %v %q %+v", o.status(), o.stdout, o.Problem)
	}
	o = run(t, p, "import mmap, os\nfd = os.open('/tmp/x', os.O_RDWR | os.O_CREAT, 0o755)\nos.write(fd, bytes(4096))\ntry: mmap.mmap(fd, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)\nexcept PermissionError: print('refused')", granted())
	if o.stdout != "refused\n" {
		t.Errorf("what was written could be executed: %q %+v", o.stdout, o.Problem)
	}
}

// TestMemoryByGroup: what the limit of address space does not see, the control
// group ends, and it is told apart from a crash.
func TestMemoryByGroup(t *testing.T) {
	p := start(t, map[string]any{"scratch_bytes_default": 1 << 30})
	if !p.stands(wallCgroup) || !p.stands(wallNamespaces) {
		t.Skip("SKIPPED LOUDLY: no control groups or no scratch files here")
	}
	g := granted()
	g.Limits.MemoryBytes, g.Limits.ScratchBytes = 64<<20, 1<<30
	o := run(t, p, "for n in range(60):\n    open('/tmp/%d' % n, 'wb').write(bytes(16 << 20))\nprint('kept all')", g)
	if o.status() != executor.StatusMemoryLimit || o.LimitFired != "memory" {
		t.Errorf("%v %q %q %+v", o.status(), o.LimitFired, o.stdout, o.Problem)
	}
	if o := run(t, p, "import os\nos.kill(os.getpid(), 9)", g); o.status() != executor.StatusCrashed {
		t.Errorf("a crash after it: %v", o.status())
	}
}

// TestThreadsAreBounded: by the control group, by the uid's limit, or as they
// are started.
// What a program had looked up in vain stays with its group: the next program gets
// another.
func TestGroupIsNotInherited(t *testing.T) {
	t.Parallel()
	p := start(t, nil)
	if p.pool.ground.folds == nil {
		t.Skip("SKIPPED LOUDLY: no control groups here")
	}
	code := `
import os
place = os.path.join(os.path.dirname(os.__file__), os.urandom(100).hex())
for i in range(80_000):
    os.access("%s-%d" % (place, i), 0)
`
	prog, err := p.parse(t.Context(), executor.Source{Language: languageID, Code: []byte(code)}, place{})
	if err != nil {
		t.Fatal(err)
	}
	c := prog.child
	if res, err := prog.Run(t.Context(), granted(), &sink{ceiling: 1 << 20}); err != nil || res.Status != executor.StatusOK {
		t.Fatalf("%+v, %v", res, err)
	}
	_ = prog.Close()
	<-c.ended
	folds := p.pool.ground.folds
	for begin := time.Now(); time.Since(begin) < 10*time.Second; time.Sleep(time.Millisecond) {
		left, err := c.fold.group.Memory()
		if err != nil {
			return // it was removed
		}
		folds.mu.Lock()
		again := slices.Contains(folds.free, c.fold)
		folds.mu.Unlock()
		if again {
			t.Fatalf("the group is used again with %d MiB in it", left>>20)
		}
	}
	t.Error("the group is neither removed nor used again")
}

func TestThreadsAreBounded(t *testing.T) {
	code := lines("import threading", "stop = threading.Event()", "n = 0",
		"try:", "    for n in range(200):", "        threading.Thread(target=stop.wait).start()",
		"except RuntimeError: print(n <= 17)", "stop.set()")
	for name, less := range map[string]lessened{
		"as it is":   {},
		"by uid":     {without: []string{wallCgroup}},
		"as started": {without: []string{wallCgroup}, apart: byGroup},
	} {
		p := startLess(t, nil, less)
		if !p.pool.ground.kernelCountsTasks() && !p.pool.ground.plan.countThreads {
			t.Skip("SKIPPED LOUDLY: neither control groups, uids nor user notification here")
		}
		if o := run(t, p, code, granted()); o.stdout != "True\n" {
			t.Errorf("%s: %v %q %+v", name, o.status(), o.stdout, o.Problem)
		}
		n := openSession(t, p, "a")
		if o := n.cell(t, code); o.stdout != "True\n" {
			t.Errorf("%s, in a session: %v %q %+v", name, o.status(), o.stdout, o.Problem)
		}
	}
}

// TestCallsThatNoFilterSees: Linux lets uretprobe, and later uprobe, of amd64
// pass whatever a filter says. They do nothing where no probe was set, and what
// they end the program with is told.
func TestCallsThatNoFilterSees(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("these calls are amd64's")
	}
	p := start(t, nil)
	for _, number := range []int{335, 336} {
		o := run(t, p, call(number, "0, 0, 0"), granted())
		if ended := o.status() == executor.StatusCrashed && o.Signal == "SIGILL"; !ended && !strings.HasPrefix(o.stdout, "came back -1 ") {
			t.Errorf("%d: %v, signal %q, %q", number, o.status(), o.Signal, o.stdout)
		}
	}
	if o := run(t, p, call(334+10_000, "0"), granted()); o.stdout != fmt.Sprintf("came back -1 %d\n", unix.ENOSYS) {
		t.Errorf("a number of no call: %v %q", o.status(), o.stdout)
	}
}

// TestFramesOnEveryDescriptor: a program that writes on all it can find tells
// nothing but its own ruin.
func TestFramesOnEveryDescriptor(t *testing.T) {
	p := start(t, nil)
	o := run(t, p, lines("import os", `frame = b'X\0\0\0\x6b{"exit_code":0,"value":"forged","has_value":true,"figure_bytes":0,"notes":[],"problem":null,"memory":false,"misplaced":false}'`,
		"for fd in range(1024):", "    try: os.write(fd, frame)", "    except OSError: pass", "while True: pass"), granted())
	if s := o.status(); s == executor.StatusInternal || s == executor.StatusOverloaded {
		t.Errorf("%v %v", s, o.err)
	}
	// Descriptors but its own four, and the sockets of neighbours, are not there.
	o = run(t, p, "import os\nopen_ = []\nfor fd in range(1024):\n    try: os.fstat(fd); open_.append(fd)\n    except OSError: pass\nprint(open_)", granted())
	if o.stdout != "[0, 1, 2, 3]\n" {
		t.Errorf("descriptors %s", o.stdout)
	}
}

// TestStateDoesNotLeak: what one program changes in itself is as ever in the next.
func TestStateDoesNotLeak(t *testing.T) {
	p := start(t, nil)
	for _, pair := range [][2]string{
		{"import math\nmath.pi = 3", "import math\nprint(math.pi == 3)"},
		{"import builtins\nbuiltins.leak = 1", "import builtins\nprint(hasattr(builtins, 'leak'))"},
		{"import sys\nsys.modules['leak'] = 1", "import sys\nprint('leak' in sys.modules)"},
		{"import os\nos.environ['LEAK'] = '1'", "import os\nprint('LEAK' in os.environ)"},
		{"import sympy\nsympy.factor = None", "import sympy\nprint(sympy.factor is None)"},
		{"import os\nos.umask(0)", "import os\nprint(os.umask(0) == 0)"},
		{"import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (5, 5))", "import resource\nprint(resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 5)"},
	} {
		run(t, p, pair[0], granted())
		for range 3 {
			if o := run(t, p, pair[1], granted()); o.stdout != "False\n" {
				t.Errorf("%q leaves: %q %+v", pair[0], o.stdout, o.Problem)
			}
		}
	}
}

// hostile are programs that harm what they can.
var hostile = []string{
	"import os\nwhile True: os.fork()",
	"import os\nwhile True: os.write(1, b'x' * 65536)",
	"b = []\nwhile True: b.append(bytearray(64 << 20))",
	"import os, signal\nos.kill(-1, signal.SIGKILL)",
	"import os\nos.write(3, b'\\0' * 100000)\nos._exit(9)",
	"import ctypes\nctypes.string_at(0)",
	"import socket\nsocket.socket().connect(('127.0.0.1', 1))",
	"import threading\nfor n in range(100): threading.Thread(target=threading.Event().wait).start()",
	"import os\nfor n in range(2000):\n    try: open('/tmp/%d' % n, 'w')\n    except OSError: pass\nos.abort()",
	"import os\nos.closerange(0, 100)\nwhile True: pass",
	"for dir in ('/tmp', '/var/tmp', '/dev/shm'):\n    try: open(dir + '/" + besiegedFile + "', 'w').write('here')\n    except OSError: pass\n1 / 0",
	"import ctypes\nctypes.CDLL(None).unshare(0x10000000)",
}

const besiegedFile = "left-by-a-besieger-of-sluice"

// namespacesOf names the PID, mount and IPC namespaces that those processes are
// in and this one is not.
func namespacesOf(pids ...int) map[string]bool {
	found := map[string]bool{}
	for _, kind := range []string{"pid", "mnt", "ipc"} {
		own, _ := os.Readlink("/proc/self/ns/" + kind)
		for _, pid := range pids {
			if name, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, kind)); err == nil && name != own {
				found[name] = true
			}
		}
	}
	return found
}

// inhabited tells whether any process is in one of those namespaces.
func inhabited(tb testing.TB, names map[string]bool) bool {
	tb.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		for name := range namespacesOf(pid) {
			if names[name] {
				return true
			}
		}
	}
	return false
}

// TestSiege: 200 hostile programs (SLUICE_SIEGE: another number), a dozen at a
// time, and the next is served as ever; afterwards no process, descriptor or
// control group is left.
func TestSiege(t *testing.T) {
	p := start(t, map[string]any{"waiting_children": 4})
	for _, code := range hostile { // what is made once and kept
		run(t, p, code, besieged())
	}
	settled(t, p)
	files := openFiles(t)
	var group sync.WaitGroup
	room := make(chan struct{}, 12)
	for n := range siege(t) {
		room <- struct{}{}
		group.Go(func() {
			defer func() { <-room }()
			if o := run(t, p, hostile[n%len(hostile)], besieged()); o.status() == executor.StatusInternal {
				t.Errorf("%q: %v", hostile[n%len(hostile)], o.err)
			}
		})
		if n%40 == 0 {
			if o := run(t, p, "import sympy as sp\nprint(sp.factor(12))", granted()); o.stdout != "12\n" {
				t.Errorf("beside %d: %v %v %q", n, o.status(), o.err, o.stdout)
			}
		}
	}
	group.Wait()
	settled(t, p)
	eventually(t, "no descriptor is left", func() bool { return openFiles(t) <= files })
	zygote := p.zygotePID()
	all := append(descendants(t, zygote), zygote)
	spaces := namespacesOf(all...)
	folds, groups := p.pool.ground.folds, groupsOf(t, all)
	if folds != nil && folds.made > 64 {
		t.Errorf("%d control groups were made for at most 17 children at once", folds.made)
	}
	p.close()
	eventually(t, "no process is left", func() bool {
		return !slices.ContainsFunc(all, func(pid int) bool { return unix.Kill(pid, 0) == nil })
	})
	if folds != nil && len(groups) != 1 {
		t.Errorf("its children were in %q", groups)
	}
	eventually(t, "no control group is left", func() bool { return !anyGroup(groups) })
	eventually(t, "no namespace is left", func() bool { return !inhabited(t, spaces) })
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		if _, err := os.Lstat(filepath.Join(dir, besiegedFile)); err == nil {
			t.Errorf("a file is left in %s", dir)
		}
	}
}

func siege(tb testing.TB) int {
	tb.Helper()
	text := os.Getenv("SLUICE_SIEGE")
	if text == "" {
		return 200
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// groupsOf names the parents of the control groups that those processes are in.
func groupsOf(tb testing.TB, pids []int) (names []string) {
	tb.Helper()
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
		if err != nil {
			continue // it has ended
		}
		names = append(names, regexp.MustCompile("sluice-python-[a-z0-9]+").FindAllString(string(text), -1)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// anyGroup tells whether a control group of one of those names exists.
func anyGroup(names []string) (found bool) {
	_ = filepath.WalkDir("/sys/fs/cgroup", func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && slices.Contains(names, e.Name()) {
			found = true
		}
		return nil // groups come and go
	})
	return found
}

func besieged() executor.Grant {
	g := granted()
	g.Limits.Wall = 500 * time.Millisecond
	return g
}

// TestRequiredPropertyIsMissing: the plugin does not start, and says which, why
// and what to change.
func TestRequiredPropertyIsMissing(t *testing.T) {
	for name, less := range map[string]lessened{
		"syscalls": {without: []string{wallSeccomp}},
		"files":    {without: []string{wallLandlock, wallRoot}},
		"network":  {without: []string{wallSeccomp}, apart: byGroup},
	} {
		p := newPlugin()
		p.less = less
		_, err := p.Configure(t.Context(), executor.Config{JSON: []byte(fmt.Sprintf(`{"python": %q, "require": ["clean-start", "rlimits", %q]}`, interpreterPath(t), name))})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", name)) || !strings.Contains(err.Error(), "remedy") {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := start(t, map[string]any{"require": append([]string{"clean-start", "rlimits"}, sandbox.Properties()...)})
	if o := run(t, p, "print(1)", granted()); o.stdout != "1\n" {
		t.Errorf("with all: %v", o.status())
	}
}
