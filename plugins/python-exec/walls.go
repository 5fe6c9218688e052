package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sluice-gateway/sluice/internal/sandbox"
)

// The walls' names in this file; sandbox.WallNames has them in order.
const (
	wallCleanStart = "clean-start"
	wallRlimits    = "rlimits"
	wallLandlock   = "landlock"
	wallSeccomp    = "seccomp"
	wallNamespaces = "namespaces"
	wallRoot       = "root"
	wallCgroup     = "cgroup"
)

// controlFD is the number of a child's control socket.
const controlFD = 3

// childPlan is what the interpreter is told of the walls around its children.
type childPlan struct {
	Apart        string     `json:"apart"`         // how children are kept apart; empty: the best way there is
	ScratchBytes uint64     `json:"scratch_bytes"` // of each child's /tmp
	UnderTmp     []string   `json:"under_tmp"`     // what the interpreter needs below /tmp
	Paths        *pathsPlan `json:"paths"`         // nil: no domain
	Calls        *callsPlan `json:"calls"`         // nil: no filter
	SessionCalls *callsPlan `json:"session_calls"` // of a process that stays; nil with Calls
	Without      []string   `json:"without"`       // what children are to keep, for tests: clean-start, rlimits

	landlock     sandbox.Wall // what paths makes of that wall
	countThreads bool         // threads are counted as they start: see threads.go
}

// pathsPlan is sandbox.ChildDomain for runtime/paths.py.
type pathsPlan struct {
	Attr  []byte     `json:"attr"`
	Rules []pathRule `json:"rules"`
}

type pathRule struct {
	Path string `json:"path"`
	Dir  uint64 `json:"dir"`
	File uint64 `json:"file"`
}

// callsPlan is sandbox.ChildFilter for runtime/calls.py.
type callsPlan struct {
	Number   int      `json:"number"` // of seccomp(2) on this architecture
	Program  []byte   `json:"program"`
	PIDSlots []uint32 `json:"pid_slots"`
	Flags    uint32   `json:"flags"`
	Seal     []byte   `json:"seal"`
}

// lessened is what tests leave out, to see what it was good for.
type lessened struct {
	apart   string   // a way to keep children apart; empty: the best there is
	without []string // names of walls
	silent  bool     // forbidden calls wait for no answer: as without user notification
}

func (l lessened) lacks(wall string) bool { return slices.Contains(l.without, wall) }

// kept is what of the walls that are no file in runtime/ children do not put up.
func (l lessened) kept() []string {
	return slices.DeleteFunc(slices.Clone(l.without), func(wall string) bool { return wall != wallCleanStart && wall != wallRlimits })
}

// planChildren decides which walls each child gets, from what the host offers.
func (g *ground) planChildren() {
	g.plan = childPlan{Apart: g.less.apart, Without: g.less.kept(), ScratchBytes: g.cfg.ScratchBytes, UnderTmp: underTmp(g.about.readOnly(g.path))}
	if g.less.lacks(wallNamespaces) && g.plan.Apart == "" {
		g.plan.Apart = byUID
	}
	g.planPaths()
	g.planCalls()
}

func (g *ground) planPaths() {
	g.plan.landlock = sandbox.Wall{Name: wallLandlock, Why: orElse(g.offer.LandlockWhy, "left out")}
	if g.less.lacks(wallLandlock) {
		return
	}
	domain, ok := sandbox.NewChildDomain(sandbox.Domain{
		ReadOnly: g.about.readOnly(g.path), Writable: []string{"/tmp"},
		Devices: []string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"},
	}, g.offer.Landlock)
	if !ok {
		return
	}
	g.plan.landlock = domain.Wall
	g.plan.Paths = &pathsPlan{Attr: domain.Attr}
	for _, r := range domain.Rules {
		g.plan.Paths.Rules = append(g.plan.Paths.Rules, pathRule{r.Path, r.Dir, r.File})
	}
}

func (g *ground) planCalls() {
	if !g.offer.Filter || g.less.lacks(wallSeccomp) {
		return
	}
	g.plan.countThreads = g.offer.Notify && !g.kernelCountsTasks()
	options := sandbox.FilterOptions{
		Notify: g.offer.Notify, ControlFD: controlFD, AskThreads: g.plan.countThreads, HostFiles: !g.ownRoot(),
	}
	filter, err := sandbox.NewChildFilter(options)
	session, sessionErr := sandbox.NewSessionFilter(options)
	if err := errors.Join(err, sessionErr); err != nil {
		g.offer.SeccompWhy = err.Error()
		return
	}
	g.plan.Calls, g.plan.SessionCalls = newCallsPlan(filter), newCallsPlan(session)
}

// ownRoot says whether children have a root in which all that is the host's is on
// read-only mounts.
func (g *ground) ownRoot() bool {
	launch, err := g.launch(nil)
	return err == nil && slices.ContainsFunc(launch.Walls(), func(w sandbox.Wall) bool { return w.Name == wallRoot && w.InForce })
}

func newCallsPlan(f sandbox.ChildFilter) *callsPlan {
	return &callsPlan{Number: unix.SYS_SECCOMP, Program: f.Program, PIDSlots: f.PIDSlots, Flags: f.Flags, Seal: f.Seal}
}

// named says whether forbidden calls wait for an answer.
func (c *callsPlan) named() bool { return c != nil && c.Flags != 0 }

// walls says which stand around a child, in the list's order: what the
// interpreter lost at its start, and what the child gives up itself.
func (g ground) walls(around []sandbox.Wall) []sandbox.Wall {
	list := slices.Clone(around)
	for i := range list {
		switch w := &list[i]; w.Name {
		case wallLandlock:
			*w = g.plan.landlock
		case wallSeccomp:
			*w = g.callsWall()
		case wallCgroup:
			*w = g.groupWall()
		}
	}
	return list
}

func (g ground) callsWall() sandbox.Wall {
	w := sandbox.Wall{Name: wallSeccomp}
	switch {
	case g.plan.Calls == nil:
		w.Why = orElse(g.offer.SeccompWhy, "left out")
	case g.offer.Notify:
		w.InForce, w.Mechanism = true, "allow-list in each child, forbidden calls named by user notification"
	default:
		w.InForce, w.Mechanism = true, "allow-list in each child"
		w.Why = "forbidden calls are not named: " + orElse(g.offer.SeccompWhy, "no user notification here")
	}
	return w
}

func (g ground) groupWall() sandbox.Wall {
	w := sandbox.Wall{Name: wallCgroup}
	if g.offer.Groups == 0 || g.less.lacks(wallCgroup) {
		w.Why = orElse(g.offer.GroupsWhy, "left out")
		return w
	}
	w.InForce, w.Mechanism, w.Why = true, fmt.Sprintf("cgroup v%d for each child", g.offer.Groups), g.offer.GroupsWhy
	return w
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// remedies say what an operator can change where a property cannot be had.
var remedies = map[string]string{
	"syscalls": "run it on a kernel with CONFIG_SECCOMP_FILTER, on amd64 or arm64, in a container whose profile allows seccomp(2)",
	"files":    "give it a kernel with Landlock (5.13 or later, lsm=landlock), or let it make mount namespaces: as root with CAP_SYS_ADMIN, or with unprivileged user namespaces",
	"network":  "let it install system call filters (a kernel with CONFIG_SECCOMP_FILTER), or make network namespaces",
}

// requireWalls holds the walls to what the operator requires.
func requireWalls(walls []sandbox.Wall, names []string) error {
	var faults []error
	for _, name := range names {
		if err := sandbox.Require(walls, name); err != nil {
			remedy := orElse(remedies[name], "see the reason in brackets")
			faults = append(faults, fmt.Errorf("%w; remedy: %s, or leave %q out of sandbox.require, which lets programs reach what that wall keeps from them", err, remedy, name))
		}
	}
	return errors.Join(faults...)
}

// underTmp picks the paths below /tmp, with what links among them lead to, none
// below another.
func underTmp(paths []string) []string {
	found := []string{}
	for _, p := range paths {
		if target, err := filepath.EvalSymlinks(p); err == nil && target != p {
			paths = append(paths, target)
		}
	}
	slices.Sort(paths)
	for _, p := range slices.Compact(paths) {
		below := slices.ContainsFunc(found, func(dir string) bool { return strings.HasPrefix(p, dir+"/") })
		if strings.HasPrefix(p, "/tmp/") && !below {
			found = append(found, p)
		}
	}
	return found
}

// walls lists the names of those that stand around a child.
func (z *zygote) walls() []string {
	var names []string
	for _, w := range z.proc.walls {
		if w.InForce {
			names = append(names, w.Name)
		}
	}
	return names
}
