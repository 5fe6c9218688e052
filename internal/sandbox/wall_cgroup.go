package sandbox

import (
	"fmt"
	"slices"
)

// planCgroup: the starter makes the group and moves the shim into it; for the
// children of a command see Groups.
func planCgroup(s Spec, of Offer, o *order) Wall {
	w := Wall{Name: nameCgroup}
	switch {
	case s.Group == "":
		return w
	case of.Groups == 0:
		w.Why = orElse(of.GroupsWhy, "control groups cannot be made here")
		return w
	}
	o.Group = true
	w.InForce, w.Mechanism, w.Why = true, fmt.Sprintf("cgroup v%d", of.Groups), of.GroupsWhy
	return w
}

func offerGroups(of *Offer) {
	g, err := OpenGroups("probe")
	if err != nil {
		of.GroupsWhy = err.Error()
		return
	}
	of.Groups = g.Version()
	if !slices.Contains(g.Controls(), pidsController) {
		of.GroupsWhy = "no pids controller is given to this process: tasks are bounded by RLIMIT_NPROC alone"
	}
	_ = g.Close()
}
