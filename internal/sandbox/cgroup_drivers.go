package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/containerd/cgroups/v3/cgroup1"
	"github.com/containerd/cgroups/v3/cgroup2"
	"github.com/opencontainers/runtime-spec/specs-go"
)

// The library makes groups, writes limits and moves processes. The counters are
// read here: it reads some twenty files for them, and they are on every answer's
// way.

func driverOf(p groupPlan) groupDriver {
	if p.version == 2 {
		return unified{p}
	}
	return legacy{p}
}

type legacy struct{ plan groupPlan }

type legacyGroup struct {
	legacy
	at map[string]string
	cg cgroup1.Cgroup
}

func (d legacy) make(at map[string]string, l GroupLimits) (groupHandle, error) {
	where := func(name cgroup1.Name) (string, error) { return at[string(name)], nil }
	cg, err := cgroup1.New(where, d.resources(l), cgroup1.WithHierarchy(d.subsystems))
	if err != nil {
		return nil, err
	}
	return legacyGroup{d, at, cg}, nil
}

func (d legacy) subsystems() ([]cgroup1.Subsystem, error) {
	list := []cgroup1.Subsystem{cgroup1.NewMemory(d.plan.root)}
	if _, ok := d.plan.own[pidsController]; ok {
		list = append(list, cgroup1.NewPids(d.plan.root))
	}
	return list, nil
}

// resources bounds memory and swap together by the same figure, where the kernel
// counts swap.
func (d legacy) resources(l GroupLimits) *specs.LinuxResources {
	r := &specs.LinuxResources{}
	if l.Memory > 0 {
		most := int64(min(l.Memory, 1<<62)) //nolint:gosec // clamped
		r.Memory = &specs.LinuxMemory{Limit: &most}
		if _, err := os.Stat(path.Join(d.plan.root, memoryController, "memory.memsw.limit_in_bytes")); err == nil {
			r.Memory.Swap = &most
		}
	}
	if l.Tasks > 0 {
		most := int64(min(l.Tasks, 1<<22)) //nolint:gosec // clamped
		r.Pids = &specs.LinuxPids{Limit: &most}
	}
	return r
}

// limit raises the bound of memory and swap together beforehand: the library
// writes that of memory first, which the kernel holds to be the lesser.
func (g legacyGroup) limit(l GroupLimits) error {
	if l.Memory > 0 {
		both := path.Join(g.plan.dir(memoryController, g.at[memoryController]), "memory.memsw.limit_in_bytes")
		if now, err := readNumber(both); err == nil && now < l.Memory {
			if err := os.WriteFile(both, []byte(strconv.FormatUint(l.Memory, 10)), 0); err != nil {
				return err
			}
		}
	}
	return g.cg.Update(g.resources(l))
}

func (g legacyGroup) add(pid int) error { return g.cg.AddProc(uint64(pid)) } //nolint:gosec // the library refuses what is not positive

func (g legacyGroup) kills() (uint64, error) {
	return readField(path.Join(g.plan.dir(memoryController, g.at[memoryController]), "memory.oom_control"), "oom_kill")
}

func (g legacyGroup) memory() (uint64, error) {
	return readNumber(path.Join(g.plan.dir(memoryController, g.at[memoryController]), "memory.usage_in_bytes"))
}

// spare does nothing: the first kind of groups knows no other way.
func (g legacyGroup) spare() error { return nil }

type unified struct{ plan groupPlan }

type unifiedGroup struct {
	dir string
	m   *cgroup2.Manager
}

// make does not let the library enable controllers: it would do so in every
// group from the mount down, and only the parent is ours.
func (d unified) make(at map[string]string, l GroupLimits) (groupHandle, error) {
	group := at[memoryController]
	parent, err := cgroup2.Load(path.Dir(group), cgroup2.WithMountpoint(d.plan.root))
	if err != nil {
		return nil, err
	}
	m, err := parent.NewChild(path.Base(group), nil)
	if err != nil {
		return nil, err
	}
	g := unifiedGroup{d.plan.dir(memoryController, group), m}
	return g, g.limit(l)
}

func (g unifiedGroup) limit(l GroupLimits) error {
	r := &cgroup2.Resources{}
	if l.Memory > 0 {
		most, none, whole := int64(min(l.Memory, 1<<62)), int64(0), true //nolint:gosec // clamped
		r.Memory = &cgroup2.Memory{Max: &most, OOMGroup: &whole}
		if _, err := os.Stat(path.Join(g.dir, "memory.swap.max")); err == nil {
			r.Memory.Swap = &none
		}
	}
	if _, err := os.Stat(path.Join(g.dir, "pids.max")); err == nil && l.Tasks > 0 {
		r.Pids = &cgroup2.Pids{Max: int64(min(l.Tasks, 1<<22))} //nolint:gosec // clamped
	}
	return g.m.Update(r)
}

func (g unifiedGroup) add(pid int) error { return g.m.AddProc(uint64(pid)) } //nolint:gosec // a process's number

func (g unifiedGroup) kills() (uint64, error) {
	return readField(path.Join(g.dir, "memory.events"), "oom_kill")
}

func (g unifiedGroup) memory() (uint64, error) { return readNumber(path.Join(g.dir, "memory.current")) }

func (g unifiedGroup) spare() error {
	return os.WriteFile(path.Join(g.dir, "memory.oom.group"), []byte("0"), 0)
}

// settle finds a version 2 group that may have children. A process that was
// started into a group, or has been here before, is in the leaf of one; another
// makes such a leaf in its own group, which only works when it is alone there.
func settle(p groupPlan) (groupPlan, error) {
	own := p.own[memoryController]
	if path.Base(own) == groupMain {
		return groupPlan{version: 2, root: p.root, own: map[string]string{memoryController: path.Dir(own)}}, nil
	}
	dir := p.dir(memoryController, own)
	if enable(dir) == nil {
		return p, nil
	}
	leaf := path.Join(dir, groupMain)
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return p, fmt.Errorf("make a leaf in this process's cgroup: %w", err)
	}
	if err := os.WriteFile(path.Join(leaf, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0); err != nil {
		return p, fmt.Errorf("move into a leaf of this process's cgroup: %w", err)
	}
	if err := enable(dir); err != nil {
		_ = os.WriteFile(path.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0)
		_ = os.Remove(leaf)
		return p, fmt.Errorf("give controllers to children of this process's cgroup: %w (other processes live in it: give the gateway one of its own)", err)
	}
	return p, nil
}

// enable gives children of a version 2 group the memory and, where it is there,
// the pids controller.
func enable(dir string) error {
	text, err := os.ReadFile(path.Join(dir, "cgroup.controllers"))
	if err != nil {
		return err
	}
	want := "+" + memoryController
	if slices.Contains(strings.Fields(string(text)), pidsController) {
		want += " +" + pidsController
	}
	return os.WriteFile(path.Join(dir, "cgroup.subtree_control"), []byte(want), 0)
}

func readNumber(file string) (uint64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
}

// readField reads one of a file's lines of a name and a number.
func readField(file, name string) (uint64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) == 2 && words[0] == name {
			return strconv.ParseUint(words[1], 10, 64)
		}
	}
	return 0, fmt.Errorf("read %q: there is no %q in it", path.Base(file), name)
}
