package profiles_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/internal/profiles"
)

const family = `base:
  description: What others start from.
  rules: {one: warn, two: "off"}
  lists:
    imports: {add: [a, b], remove: [c]}
  limits: {wall_seconds: 10, threads: 4}
  grants: ["import:x"]
  waivers:
    - {rule: one, subject: s, reason: r, date: 2030-01-02}
child:
  extends: base
  rules: {two: error}
  lists:
    imports: {add: [c, d], remove: [a]}
    calls: {remove: [eval]}
  limits: {wall_seconds: 5}
  grants: ["import:y", "import:x"]
  waivers:
    - {rule: two, subject: t, reason: r, date: 2030-01-03}
grandchild:
  extends: child
`

func TestAProfileHasWhatItInherits(t *testing.T) {
	set, err := profiles.Read([]byte(family))
	if err != nil {
		t.Fatal(err)
	}
	got := set.Whole["grandchild"]
	for what, pair := range map[string][2]any{
		"rules":  {got.Rules, map[string]string{"one": "warn", "two": "error"}},
		"limits": {got.Limits, map[string]float64{"wall_seconds": 5, "threads": 4}},
		"grants": {got.Grants, []string{"import:y", "import:x"}},
		"lists": {got.Lists, map[string]profiles.Delta{
			"imports": {Add: []string{"b", "c", "d"}, Remove: []string{"a"}}, "calls": {Add: []string{}, Remove: []string{"eval"}},
		}},
		"waivers": {len(got.Waivers), 2},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) && !emptyAlike(pair) {
			t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
		}
	}
	if base := set.Whole["base"]; len(base.Rules) != 2 || base.Rules["two"] != "off" || len(base.Waivers) != 1 {
		t.Errorf("the base was changed by those that extend it: %+v", base)
	}
}

// emptyAlike passes over the difference between nil and an empty list.
func emptyAlike(pair [2]any) bool {
	got, ok := pair[0].(map[string]profiles.Delta)
	want, _ := pair[1].(map[string]profiles.Delta)
	if !ok || len(got) != len(want) {
		return false
	}
	for name := range got {
		for _, lists := range [][2][]string{{got[name].Add, want[name].Add}, {got[name].Remove, want[name].Remove}} {
			if strings.Join(lists[0], " ") != strings.Join(lists[1], " ") {
				return false
			}
		}
	}
	return true
}

func TestFaultsHaveTheirLine(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no profile that it extends": {"a:\n  rules: {}\nb:\n  extends: aa\n", `profiles.yaml:4: profile "b": it extends "aa", which is no profile; there are a, b`},
		"itself":                     {"a:\n  extends: a\n", `profiles.yaml:2: profile "a": it extends itself: a → a`},
		"a circle":                   {"a:\n  extends: b\nb:\n  extends: a\n", `profiles.yaml:2: profile "a": it extends itself: a → b → a`},
		"an unknown key":             {"a:\n  rules: {}\n  extend: b\n", "profiles.yaml:3: "},
		"a key twice":                {"a:\n  rules: {}\n  rules: {}\n", "profiles.yaml:3: "},
		"no mapping":                 {"a: 1\n", "profiles.yaml:1: "},
		"none":                       {"{}\n", "it has no profile"},
		"not YAML":                   {"a:\n  rules: {\n", "profiles.yaml:"},
		"nothing":                    {"# empty\n", "no documents"},
	} {
		_, err := profiles.Read([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
}

// Time and memory have a bound whatever the file says.
func TestFilesAreBounded(t *testing.T) {
	chain := func(n int) string {
		text := "p0: {}\n"
		for i := 1; i < n; i++ {
			text += fmt.Sprintf("p%d: {extends: p%d, lists: {l: {add: [n%d]}}}\n", i, i-1, i)
		}
		return text
	}
	long := "base: {lists: {l: {add: [" + strings.Repeat("entry, ", 20_000) + "entry]}}}\n"
	wide := long
	for i := range 60 {
		wide += fmt.Sprintf("p%d: {extends: base}\n", i)
	}
	bomb := "x: {grants: &a [" + strings.Repeat("'import:x', ", 5000) + "'import:x']}\n"
	for i := range 190 {
		bomb += fmt.Sprintf("p%d: {grants: *a}\n", i)
	}
	for name, test := range map[string]struct{ text, want string }{
		"depth":            {chain(17), ""},
		"too deep":         {chain(18), "profiles.yaml:18: profile \"p17\": it inherits from more than 16"},
		"too many":         {chain(3000), "it has 3000 profiles"},
		"inherited widely": {wide, "more than 200000 entries"},
		"aliases":          {bomb, "profiles.yaml"},
		"brackets":         {"x: " + strings.Repeat("[", 200_000), "profiles.yaml"},
		"one long list":    {long, ""},
	} {
		_, err := profiles.Read([]byte(test.text))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %.300v, want %q", name, err, test.want)
		}
	}
}

func TestAFaultIsPlacedWhereItsPartStands(t *testing.T) {
	set, err := profiles.Read([]byte(family))
	if err != nil {
		t.Fatal(err)
	}
	for part, line := range map[string]string{
		"rules.two": ":12:", "lists.imports": ":14:", "lists.calls": ":15:", "limits.wall_seconds": ":16:", "grants.1": ":17:", "waivers.0": ":19:", "what.ever": ":10:",
	} {
		if got := set.Fault("child", part, errTest).Error(); !strings.Contains(got, "profiles.yaml"+line) {
			t.Errorf("%s stands at %s, want %s", part, got, line)
		}
	}
}

type testError struct{}

func (testError) Error() string { return "a fault" }

var errTest = testError{}
