package sandbox

import (
	"fmt"
	"strings"
)

// Wall is what is known of one wall around a command.
type Wall struct {
	Name       string
	InForce    bool
	Mechanism  string      // how, when in force: "pivot_root", "user namespace" …
	Why        string      // why not, or what is missing although in force
	Namespaces []Namespace // of the wall "namespaces": those in force
	Files      bool        // of the wall "landlock": paths are restricted, not only sockets and signals
}

// wall is one entry of the ordered list. plan is pure: it says whether the wall
// can stand and writes into the order what raise must do. raise runs in the
// shim, on its one locked thread; nil means that there is nothing to do there.
type wall struct {
	name  string
	plan  func(Spec, Offer, *order) Wall
	raise func(*order) error
}

// The walls' names, in their order.
const (
	nameCleanStart = "clean-start"
	nameRlimits    = "rlimits"
	nameLandlock   = "landlock"
	nameSeccomp    = "seccomp"
	nameNamespaces = "namespaces"
	nameRoot       = "root"
	nameCgroup     = "cgroup"
)

// walls is the ordered list. A wall later in the list may rest on one before
// it only through the order that planning fills.
func walls() []wall {
	return []wall{
		{nameCleanStart, planCleanStart, raiseCleanStart},
		{nameRlimits, planRlimits, raiseRlimits},
		{nameLandlock, planLandlock, raiseLandlock},
		{nameSeccomp, planSeccomp, raiseSeccomp},
		{nameNamespaces, planNamespaces, raiseNamespaces},
		{nameRoot, planRoot, raiseRoot},
		{nameCgroup, planCgroup, nil},
	}
}

// raising is the order in which the shim raises them: what needs rights comes
// before what gives them up.
func raising() []string {
	return []string{nameNamespaces, nameRoot, nameCgroup, nameRlimits, nameCleanStart, nameLandlock, nameSeccomp}
}

// WallNames lists the names of all walls, in order.
func WallNames() []string {
	var names []string
	for _, w := range walls() {
		names = append(names, w.name)
	}
	return names
}

// Properties lists the properties that Require understands beside the walls'
// names.
func Properties() []string { return []string{"syscalls", "files", "network"} }

// Require returns nil when each name, of a wall or a property, is met by ws,
// and otherwise an error that says in a sentence which is not and why. The
// property "files" is met by landlock or root, "network" by seccomp or a
// network namespace, "syscalls" by seccomp.
func Require(ws []Wall, names ...string) error {
	for _, name := range names {
		if err := requireOne(ws, name); err != nil {
			return err
		}
	}
	return nil
}

func requireOne(ws []Wall, name string) error {
	alternatives := map[string][]string{
		"syscalls": {nameSeccomp},
		"files":    {nameLandlock, nameRoot},
		"network":  {nameSeccomp, nameNamespaces},
	}[name]
	if alternatives == nil {
		alternatives = []string{name}
	}
	var why []string
	for _, w := range ws {
		for _, a := range alternatives {
			if w.Name != a {
				continue
			}
			if w.gives(name) {
				return nil
			}
			why = append(why, a+": "+w.reason())
		}
	}
	if why == nil {
		return fmt.Errorf("require wall %q: there is no such wall or property; there are %s",
			name, strings.Join(append(WallNames(), Properties()...), ", "))
	}
	return fmt.Errorf("require wall %q: it cannot stand here (%s)", name, strings.Join(why, "; "))
}

// gives tells whether the wall stands, and with the part that the property needs.
func (w Wall) gives(property string) bool {
	switch {
	case !w.InForce:
		return false
	case property == "network" && w.Name == nameNamespaces:
		return w.has(Net)
	case property == "files" && w.Name == nameLandlock:
		return w.Files
	}
	return true
}

func (w Wall) has(n Namespace) bool {
	for _, m := range w.Namespaces {
		if m == n {
			return true
		}
	}
	return false
}

func (w Wall) reason() string {
	if w.Why == "" {
		return "not asked for"
	}
	return w.Why
}
