package sandbox

import (
	"os"
	"slices"
)

// Launch is a command with the walls planned around it. It may be started
// several times; its files must stay open meanwhile.
type Launch struct {
	spec  Spec
	order order
	walls []Wall
}

// order is what the shim is told; it travels as JSON.
type order struct {
	Path    string
	Args    []string
	Env     []string
	Dir     string
	ExeFD   int // 0: none
	FirstFD int // the first descriptor that the command must not see

	Namespaces []Namespace
	UserNS     bool
	FreshProc  bool
	Root       *rootOrder
	Rlimits    []Rlimit
	SetCaps    bool
	KeepCaps   []Cap
	DropGroups bool

	Landlock *landlockOrder
	Seccomp  bool
	Group    bool // entered by the starter, while the shim waits for this order

	Probe probeKind // not empty: try that and end
}

// Plan sets what spec wants against what offer has. It is pure: it reads
// nothing and changes nothing. An error is about spec itself; a wall that
// cannot stand is told by Walls, and it is the caller who decides (see
// [Require]) whether that will do.
func Plan(spec Spec, offer Offer) (Launch, error) {
	if err := spec.check(); err != nil {
		return Launch{}, err
	}
	spec.Args = slices.Clone(spec.Args)
	if len(spec.Args) == 0 {
		spec.Args = []string{spec.Path}
	}
	l := Launch{spec: spec}
	l.order = order{Path: spec.Path, Args: spec.Args, Env: slices.Clone(spec.Env), Dir: spec.Dir, FirstFD: 3 + len(spec.Files)}
	if spec.Exe != nil {
		l.order.ExeFD = l.order.FirstFD + 1 // behind the control socket
	}
	if l.order.Dir == "" {
		l.order.Dir = "/"
	}
	planned := map[string]Wall{}
	list := walls()
	for _, name := range raising() {
		for _, w := range list {
			if w.name == name {
				planned[name] = w.plan(spec, offer, &l.order)
			}
		}
	}
	for _, w := range list {
		l.walls = append(l.walls, planned[w.name])
	}
	return l, nil
}

// Walls says, in the list's order, which walls stand around the command.
func (l Launch) Walls() []Wall { return slices.Clone(l.walls) }

// Require is [Require] of the launch's walls.
func (l Launch) Require(names ...string) error { return Require(l.walls, names...) }

// files are the command's descriptors from 0 on; null stands for those of the
// first three that are not given.
func (s Spec) files(null *os.File) []*os.File {
	all := []*os.File{s.Stdin, s.Stdout, s.Stderr}
	for i, f := range all {
		if f == nil {
			all[i] = null
		}
	}
	return append(all, s.Files...)
}
