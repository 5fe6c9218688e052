package sandbox

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// groupPrefix begins the name of every group that this package makes.
const groupPrefix = "sluice-"

// groupMain is the leaf for processes in a version 2 group that has children: only
// leaves may hold processes. It does not begin with groupPrefix: that is swept.
const groupMain = "main.sluice"

// GroupLimits bound what the processes of a group use together; 0 is no limit.
type GroupLimits struct {
	Memory uint64 // bytes, without swap
	Tasks  uint64 // processes and threads
}

// Groups is a parent of control groups, made for one program and its children.
// It holds no process itself. Its methods may be called from several goroutines.
type Groups struct {
	plan   groupPlan
	name   string     // path of the parent under each controller's own group
	locks  []*os.File // of the parent in each controller's tree
	driver groupDriver
}

// Group is one control group, for one child.
type Group struct {
	groups *Groups
	name   string
	handle groupHandle
}

// groupDriver makes groups the one way or the other.
type groupDriver interface {
	// make creates a group at its full path by controller.
	make(at map[string]string, l GroupLimits) (groupHandle, error)
}

type groupHandle interface {
	limit(l GroupLimits) error
	add(pid int) error
	kills() (uint64, error)
	memory() (uint64, error)
	spare() error
}

// OpenGroups makes a parent group under this process's own and removes what
// processes that are gone have left there. The error says why it cannot be and
// what to change.
func OpenGroups(name string) (*Groups, error) {
	plan, err := findGroups()
	if err != nil {
		return nil, fmt.Errorf("find control groups: %w", err)
	}
	if plan.version == 2 {
		if plan, err = settle(plan); err != nil {
			return nil, err
		}
	}
	plan.sweep()
	for range 3 {
		g, err := openGroups(plan, groupPrefix+name+"-"+strings.ToLower(rand.Text()[:10]))
		if !errors.Is(err, unix.ENOENT) { // swept between making and locking
			return g, err
		}
	}
	return nil, errors.New("make a control group: it was removed again and again")
}

func openGroups(plan groupPlan, name string) (*Groups, error) {
	g := &Groups{plan: plan, name: name, driver: driverOf(plan)}
	err := g.mkdirs()
	if err == nil {
		err = g.hold()
	}
	if err == nil {
		err = g.try()
	}
	if err != nil {
		_ = g.Close()
		return nil, fmt.Errorf("make a control group: %w (give the gateway a writable cgroup: Delegate=yes under systemd, a private and writable /sys/fs/cgroup in a container)", err)
	}
	return g, nil
}

func findGroups() (groupPlan, error) {
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return groupPlan{}, err
	}
	self, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return groupPlan{}, err
	}
	return planGroups(string(mountinfo), string(self), func(dir string) string {
		text, _ := os.ReadFile(path.Join(dir, "cgroup.controllers"))
		return string(text)
	})
}

func (g *Groups) mkdirs() error {
	for _, c := range g.plan.controllers() {
		if err := os.Mkdir(g.dir(c, ""), 0o755); err != nil {
			return err
		}
	}
	if g.plan.version == 2 {
		return enable(g.dir(memoryController, ""))
	}
	return nil
}

// hold locks the parent's directory in each tree: whoever gets such a lock knows
// that the maker is gone.
func (g *Groups) hold() error {
	for _, c := range g.plan.controllers() {
		f, err := os.Open(g.dir(c, ""))
		if err != nil {
			return err
		}
		g.locks = append(g.locks, f)
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			return unix.ENOENT // a sweeper has it, and removes it
		}
		if _, err := os.Stat(f.Name()); err != nil {
			return err
		}
	}
	return nil
}

// try sees that groups can be made and limited here.
func (g *Groups) try() error {
	probe, err := g.New("try", GroupLimits{Memory: 1 << 30, Tasks: 64})
	if err != nil {
		return err
	}
	return probe.Remove()
}

// Version is 1 or 2.
func (g *Groups) Version() int { return g.plan.version }

// Controls tells what the groups can limit: "memory", and "pids" where that
// controller is there.
func (g *Groups) Controls() []string {
	if g.plan.version == 1 {
		return g.plan.controllers()
	}
	text, _ := os.ReadFile(path.Join(g.dir(memoryController, ""), "cgroup.subtree_control"))
	return strings.Fields(string(text))
}

func (g *Groups) dir(controller, name string) string {
	return g.plan.dir(controller, path.Join(g.plan.own[controller], g.name, name))
}

// New makes a group with that name, which must be new in this parent.
func (g *Groups) New(name string, l GroupLimits) (*Group, error) {
	at := map[string]string{}
	for _, c := range g.plan.controllers() {
		at[c] = path.Join(g.plan.own[c], g.name, name)
	}
	handle, err := g.driver.make(at, l)
	if err != nil {
		_ = g.remove(name)
		return nil, fmt.Errorf("make control group %q: %w", name, err)
	}
	return &Group{groups: g, name: name, handle: handle}, nil
}

// Limit changes the group's limits.
func (c *Group) Limit(l GroupLimits) error {
	if err := c.handle.limit(l); err != nil {
		return fmt.Errorf("limit control group %q: %w", c.name, err)
	}
	return nil
}

// Add moves a process into the group, by its number in the caller's PID
// namespace. What memory it has stays counted where it was.
func (c *Group) Add(pid int) error {
	if err := c.handle.add(pid); err != nil {
		return fmt.Errorf("move process %d into control group %q: %w", pid, c.name, err)
	}
	return nil
}

// AddPIDFD is Add for a process that is known by its descriptor.
func (c *Group) AddPIDFD(pidfd *os.File) error {
	pid, err := PIDOf(pidfd)
	if err != nil {
		return err
	}
	return c.Add(pid)
}

// PIDOf is the number, in the caller's PID namespace, of the process that a
// pidfd stands for.
func PIDOf(pidfd *os.File) (int, error) {
	text, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(int(pidfd.Fd())))
	if err != nil {
		return 0, fmt.Errorf("find a process by its descriptor: %w", err)
	}
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte("Pid:")); ok {
			pid, err := strconv.Atoi(string(bytes.TrimSpace(rest)))
			if err != nil || pid <= 0 {
				return 0, fmt.Errorf("find a process by its descriptor: it has ended or lies outside of this PID namespace (%q)", bytes.TrimSpace(rest))
			}
			return pid, nil
		}
	}
	return 0, errors.New("find a process by its descriptor: it is none of a process")
}

// Kills is how many processes of the group the kernel ended because its memory was
// used up. Read it before the group is removed, and before the end of a process is
// judged: a kill for memory looks like any other.
func (c *Group) Kills() (uint64, error) {
	n, err := c.handle.kills()
	if err != nil {
		return 0, fmt.Errorf("read control group %q: %w", c.name, err)
	}
	return n, nil
}

// Memory is how many bytes are charged to the group now. What a group was
// charged by processes that are gone, such as files in the kernel's cache, counts.
func (c *Group) Memory() (uint64, error) {
	n, err := c.handle.memory()
	if err != nil {
		return 0, fmt.Errorf("read control group %q: %w", c.name, err)
	}
	return n, nil
}

// Spare has the kernel end one process of the group, the largest, when memory is
// used up, not all of them.
func (c *Group) Spare() error {
	if err := c.handle.spare(); err != nil {
		return fmt.Errorf("spare the processes of control group %q: %w", c.name, err)
	}
	return nil
}

// Kill ends every process of the group.
func (c *Group) Kill() error { return c.groups.killAll(c.name) }

// Remove ends what is left in the group and removes it.
func (c *Group) Remove() error { return c.groups.remove(c.name) }

// Close ends every process of every group and removes them all with the parent.
func (g *Groups) Close() error {
	err := g.remove("")
	g.release()
	return err
}

func (g *Groups) release() {
	for _, f := range g.locks {
		_ = f.Close()
	}
}
