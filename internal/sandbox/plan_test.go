package sandbox

import (
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func everything() Offer {
	return Offer{Permitted: ^uint64(0), Mechanism: ByPrivilege, Namespaces: AllNamespaces(), FreshProc: true, Pivot: true}
}

// planCase is a wish, an offer and what must come of them.
type planCase struct {
	spec  Spec
	offer Offer
	force string // walls in force
	kinds []Namespace
	why   string // part of some wall's reason
	check func(order) bool
}

func planCases() map[string]planCase {
	full := Spec{Path: "/p", Namespaces: AllNamespaces(), FreshProc: true, ReadOnly: []string{"/usr"}, DropCaps: true, KeepCaps: []Cap{unix.CAP_KILL}}
	outer := Spec{Path: "/p", Namespaces: []Namespace{PID, Mount}, FreshProc: true}
	user := everything()
	user.UID, user.Mechanism, user.Permitted = 1000, ByUserNamespace, 0
	noProc, noPivot, noMount := everything(), everything(), everything()
	noProc.FreshProc, noProc.Why = false, "masked"
	noPivot.Pivot = false
	noMount.Namespaces = []Namespace{PID, Net}
	return map[string]planCase{
		"everything": {full, everything(), "clean-start rlimits namespaces root", AllNamespaces(), "", func(o order) bool {
			return o.Root != nil && o.Root.Proc && o.SetCaps && o.DropGroups && len(o.KeepCaps) == 1
		}},
		"user namespace": {full, user, "clean-start rlimits namespaces root", AllNamespaces(), "", func(o order) bool {
			return o.UserNS && o.SetCaps && !o.DropGroups && len(o.KeepCaps) == 1
		}},
		"nothing": {full, Offer{UID: 1000, Why: "refused"}, "clean-start rlimits", nil, "(refused)", func(o order) bool {
			return o.Root == nil && len(o.KeepCaps) == 0 && !o.UserNS
		}},
		"no pivot": {full, noPivot, "clean-start rlimits namespaces", AllNamespaces(), "pivot_root is refused", nil},
		"no mount": {full, noMount, "clean-start rlimits namespaces", []Namespace{PID, Net}, "no mount namespace", nil},
		"no proc": {outer, noProc, "clean-start rlimits namespaces", []Namespace{Mount}, "(masked)", func(o order) bool {
			return !o.FreshProc
		}},
		"own root without proc": {full, noProc, "clean-start rlimits namespaces root", AllNamespaces(), "", func(o order) bool {
			return !o.Root.Proc
		}},
		"proc": {outer, everything(), "clean-start rlimits namespaces", []Namespace{PID, Mount}, "", func(o order) bool {
			return o.FreshProc && !o.SetCaps
		}},
		"nothing asked": {Spec{Path: "/p"}, everything(), "clean-start rlimits", nil, "", func(o order) bool {
			return !o.SetCaps && slices.Equal(o.Args, []string{"/p"}) && o.Dir == "/"
		}},
	}
}

func TestPlan(t *testing.T) {
	for name, c := range planCases() {
		t.Run(name, func(t *testing.T) {
			l, err := Plan(c.spec, c.offer)
			if err != nil {
				t.Fatal(err)
			}
			var force, why []string
			for _, w := range l.Walls() {
				if w.InForce {
					force = append(force, w.Name)
				}
				why = append(why, w.Why)
				if w.Name == nameNamespaces && !slices.Equal(w.Namespaces, c.kinds) {
					t.Errorf("namespaces %v, want %v", w.Namespaces, c.kinds)
				}
			}
			if got := strings.Join(force, " "); got != c.force {
				t.Errorf("walls in force: %s, want %s", got, c.force)
			}
			if !strings.Contains(strings.Join(why, "\n"), c.why) {
				t.Errorf("reasons %q, want one with %q", why, c.why)
			}
			if c.check != nil && !c.check(l.order) {
				t.Errorf("order is %+v", l.order)
			}
		})
	}
}

func TestRequire(t *testing.T) {
	l, err := Plan(Spec{Path: "/p", Namespaces: []Namespace{PID, Net}}, everything())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"clean-start": "", "rlimits": "", "namespaces": "", "network": "",
		"files":    `require wall "files": it cannot stand here (landlock: not asked for; root: not asked for)`,
		"syscalls": "seccomp: not asked for",
		"seccomp":  "not asked for", "landlock": "not asked for", "cgroup": "not asked for",
		"moat": `require wall "moat": there is no such wall or property; there are clean-start, rlimits`,
	} {
		err := l.Require(name)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("require %s: %v, want %q", name, err, want)
		}
	}
	noNet, err := Plan(Spec{Path: "/p", Namespaces: []Namespace{PID}}, everything())
	if err != nil {
		t.Fatal(err)
	}
	if err := noNet.Require("network"); err == nil {
		t.Error("a launch without a network namespace met the property \"network\"")
	}
}

func TestPlanBinds(t *testing.T) {
	tree := map[string]string{ // "": directory, "-": file, else a link's target
		"/usr": "", "/usr/lib": "", "/usr/lib64": "", "/usr/bin": "", "/usr/bin/python3": "-", "/lib64": "usr/lib64",
		"/home": "", "/home/venv": "", "/home/venv/bin": "", "/home/venv/bin/python": "/opt/py/bin/python3",
		"/opt": "", "/opt/py": "", "/opt/py/bin": "", "/opt/py/bin/python3": "python3.11", "/opt/py/bin/python3.11": "-",
		"/loop": "loop", "/up": "usr/../home/venv", "/slash": "/",
	}
	look := func(p string) (fs.FileMode, string, error) {
		what, ok := tree[p]
		switch {
		case !ok:
			return 0, "", fs.ErrNotExist
		case what == "":
			return fs.ModeDir, "", nil
		case what == "-":
			return 0, "", nil
		}
		return fs.ModeSymlink, what, nil
	}
	for name, c := range map[string]struct {
		paths []string
		want  []step
		err   string
	}{
		"directory":       {[]string{"/usr/lib"}, []step{{stepDir, "/usr/lib", ""}}, ""},
		"file":            {[]string{"/usr/bin/python3"}, []step{{stepFile, "/usr/bin/python3", ""}}, ""},
		"link":            {[]string{"/lib64"}, []step{{stepLink, "/lib64", "usr/lib64"}, {stepDir, "/usr/lib64", ""}}, ""},
		"under another":   {[]string{"/usr/lib", "/usr"}, []step{{stepDir, "/usr", ""}}, ""},
		"link to covered": {[]string{"/lib64", "/usr"}, []step{{stepLink, "/lib64", "usr/lib64"}, {stepDir, "/usr", ""}}, ""},
		"venv and its interpreter": {[]string{"/home/venv", "/home/venv/bin/python"},
			[]step{{stepDir, "/home/venv", ""}, {stepLink, "/opt/py/bin/python3", "python3.11"}, {stepFile, "/opt/py/bin/python3.11", ""}}, ""},
		"up and over": {[]string{"/up"}, []step{{stepDir, "/home/venv", ""}, {stepLink, "/up", "usr/../home/venv"}}, ""},
		"twice":       {[]string{"/usr", "/usr"}, []step{{stepDir, "/usr", ""}}, ""},
		"none":        {nil, nil, ""},
		"missing":     {[]string{"/usr/none"}, nil, "not exist"},
		"loop":        {[]string{"/loop"}, nil, "symbolic links"},
		"to the root": {[]string{"/slash"}, nil, "the root itself"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := planBinds(c.paths, look)
			if c.err == "" && (err != nil || !reflect.DeepEqual(got, c.want)) {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
			if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("got %v, want an error with %q", err, c.err)
			}
		})
	}
}

func TestVerdictOf(t *testing.T) {
	for _, c := range []struct {
		reports []report
		good    bool
	}{
		{[]report{{Ready: true}}, true},
		{nil, false},
		{[]report{{Ready: true}, {Error: "execute: no"}}, false},
		{[]report{{Error: "raise: no"}}, false},
		{[]report{{Ready: true}, {Ready: true}}, false},
	} {
		if err := verdictOf(c.reports); (err == nil) != c.good {
			t.Errorf("reports %v gave %v", c.reports, err)
		}
	}
}

func TestShimIsNotForOthers(t *testing.T) {
	for _, args := range [][]string{nil, {"gateway"}, {"gateway", "serve"}, {"gateway", marker}, {"gateway", "serve", "3"}} {
		if _, is := Shim(args); is {
			t.Errorf("%q was taken for a shim", args)
		}
	}
	if code, is := Shim([]string{"gateway", marker, "x"}); !is || code == 0 {
		t.Errorf("a shim by hand gave %d, %v", code, is)
	}
}

// TestPlanInWays: which of the walls stand, and which properties are met, on the
// hosts that the whole must run on.
func TestPlanInWays(t *testing.T) {
	spec := Spec{Path: "/p", Namespaces: AllNamespaces(), ReadOnly: []string{"/usr"}, DropCaps: true, Seccomp: true, Landlock: &Domain{ReadOnly: []string{"/usr"}}, Group: "g"}
	root := everything()
	root.Filter, root.Notify, root.Landlock, root.Groups = true, true, 7, 1
	user, gvisor := root, root
	user.UID, user.Mechanism, user.Permitted, user.Groups = 1000, ByUserNamespace, 0, 0
	gvisor.Notify, gvisor.Landlock, gvisor.LandlockWhy, gvisor.Groups = false, 0, "hidden", 0
	five := []string{"clean-start", "rlimits", "syscalls", "files", "network"}
	for name, c := range map[string]struct {
		offer  Offer
		stand  string
		unmet  []string // of the five properties
		reason string   // of the first of them
	}{
		"root":      {root, "clean-start rlimits landlock seccomp namespaces root cgroup", nil, ""},
		"user":      {user, "clean-start rlimits landlock seccomp namespaces root", nil, ""},
		"container": {Offer{UID: 1000, Filter: true, Notify: true, Landlock: 7}, "clean-start rlimits landlock seccomp", nil, ""},
		"gvisor":    {gvisor, "clean-start rlimits seccomp namespaces root", nil, ""},
		"old kernel in a container": {Offer{UID: 1000, Filter: true, LandlockWhy: "no Landlock here", Why: "refused"}, "clean-start rlimits seccomp",
			[]string{"files"}, "landlock: no Landlock here; root: there is no mount namespace to make it in"},
		"nothing": {Offer{UID: 1000, SeccompWhy: "no filters here"}, "clean-start rlimits", []string{"syscalls", "files", "network"}, "seccomp: no filters here"},
	} {
		l, err := Plan(spec, c.offer)
		if err != nil {
			t.Fatal(err)
		}
		var stand []string
		for _, w := range l.Walls() {
			if w.InForce {
				stand = append(stand, w.Name)
			}
		}
		if got := strings.Join(stand, " "); got != c.stand {
			t.Errorf("%s: %s stand, want %s", name, got, c.stand)
		}
		for i, p := range five {
			err := l.Require(p)
			if unmet := slices.Contains(c.unmet, p); (err != nil) != unmet {
				t.Errorf("%s: %s: %v", name, p, err)
			}
			if err != nil && len(c.unmet) > 0 && five[i] == c.unmet[0] && !strings.Contains(err.Error(), c.reason) {
				t.Errorf("%s: %v, want %q", name, err, c.reason)
			}
		}
	}
}
