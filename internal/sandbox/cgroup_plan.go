package sandbox

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// The controllers that groups use. Memory must be there; the others are taken
// where they are.
const (
	memoryController = "memory"
	pidsController   = "pids"
)

// groupPlan says where this process's control groups lie.
type groupPlan struct {
	version int
	root    string            // version 2: the mount; version 1: the directory that holds one mount per controller
	own     map[string]string // this process's group under that, by controller; version 2 has the one key memory
}

// controllers lists those of the plan, memory first: its tree holds the locks.
func (p groupPlan) controllers() []string {
	var names []string
	for _, c := range []string{memoryController, pidsController} {
		if _, ok := p.own[c]; ok {
			names = append(names, c)
		}
	}
	return names
}

// dir is where a group of that path lies in a controller's tree.
func (p groupPlan) dir(controller, group string) string {
	if p.version == 2 {
		return path.Join(p.root, group)
	}
	return path.Join(p.root, controller, group)
}

// planGroups finds the groups from the texts of /proc/self/mountinfo and
// /proc/self/cgroup. It is pure but for available, which reads a version 2
// group's cgroup.controllers. Version 2 is taken when it has the memory
// controller, else version 1.
func planGroups(mountinfo, self string, available func(dir string) string) (groupPlan, error) {
	mounts, own := groupMounts(mountinfo), ownGroups(self)
	if at, ok := mounts["unified"]; ok {
		group, err := at.inside(own[""])
		if err == nil && slices.Contains(strings.Fields(available(path.Join(at.point, group))), memoryController) {
			return groupPlan{version: 2, root: at.point, own: map[string]string{memoryController: group}}, nil
		}
	}
	at, ok := mounts[memoryController]
	if !ok {
		return groupPlan{}, errors.New("no memory controller is given to this process, by cgroup v2 or v1")
	}
	if path.Base(at.point) != memoryController {
		return groupPlan{}, fmt.Errorf("the memory controller is mounted at %q, not under its own name", at.point)
	}
	p := groupPlan{version: 1, root: path.Dir(at.point), own: map[string]string{}}
	for _, c := range []string{memoryController, pidsController} {
		at, ok := mounts[c]
		if !ok || path.Dir(at.point) != p.root {
			continue
		}
		group, err := at.inside(own[c])
		if err != nil {
			return groupPlan{}, err
		}
		p.own[c] = group
	}
	return p, nil
}

// groupMount is a mounted hierarchy: the group that is its root, and where.
type groupMount struct{ root, point string }

// inside is a group's path under the mount.
func (m groupMount) inside(group string) (string, error) {
	if m.root == "/" && path.IsAbs(group) && !strings.HasPrefix(group, "/..") {
		return path.Clean(group), nil
	}
	rest, ok := strings.CutPrefix(group, m.root)
	if !ok || (rest != "" && rest[0] != '/') {
		return "", fmt.Errorf("this process's cgroup %q lies outside of what is mounted (%q)", group, m.root)
	}
	return path.Join("/", rest), nil
}

// groupMounts finds hierarchies by controller, the version 2 one as "unified".
func groupMounts(mountinfo string) map[string]groupMount {
	found := map[string]groupMount{}
	for line := range strings.Lines(mountinfo) {
		before, after, ok := strings.Cut(line, " - ")
		where, what := strings.Fields(before), strings.Fields(after)
		if !ok || len(where) < 5 || len(what) < 3 {
			continue
		}
		m := groupMount{root: where[3], point: where[4]}
		switch what[0] {
		case "cgroup2":
			found["unified"] = m
		case "cgroup":
			for _, name := range strings.Split(what[2], ",") {
				found[name] = m
			}
		}
	}
	return found
}

// ownGroups reads /proc/self/cgroup: group by controller, version 2 as "".
func ownGroups(self string) map[string]string {
	own := map[string]string{}
	for line := range strings.Lines(self) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, c := range strings.Split(parts[1], ",") {
			own[c] = parts[2]
		}
	}
	return own
}
