package workbench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluice-gateway/sluice/internal/policy/policytest"
)

// tighter and looser is the shipped policy with one entry more and one fewer.
func changedFolder(t *testing.T) fstest.MapFS {
	t.Helper()
	m := shippedFolder(t)
	text := string(m["allowlist.rego"].Data)
	for old, with := range map[string]string{
		"blocked_paths := {\n":       "blocked_paths := {\n\t\"numpy.random.seed\",\n",
		`"numpy.load", `:             "",
		"\"memoryview\", \"open\", ": `"memoryview", `,
	} {
		if !strings.Contains(text, old) {
			t.Fatalf("allowlist.rego does not hold %q", old)
		}
		text = strings.Replace(text, old, with, 1)
	}
	m["allowlist.rego"] = &fstest.MapFile{Data: []byte(text)}
	return m
}

func cases(code string, callers ...string) []Case {
	var list []Case
	for _, caller := range callers {
		list = append(list, Case{Name: "n", Language: "python", Tool: "python", Profile: "solve", Caller: caller, Code: []byte(code)})
	}
	return list
}

func TestAKnownChange(t *testing.T) {
	python := policytest.Start(t)
	var asked []Case
	for code, callers := range map[string][]string{
		"import numpy as np\nnp.random.seed(1)\n":  {"a", "a", "b"},
		"import numpy as np\nnp.load('x')\n":       {"a", "b"},
		"import numpy\nopen('x')\nnumpy.load('x')": {"b"},
		"import os\nopen('x')":                     {"b", "b"},
		"print(1)":                                 {"a"},
		"import os":                                {"a"},
		"def":                                      {"a"},
	} {
		asked = append(asked, cases(code, callers...)...)
	}
	var last int
	c := Comparer{Old: load(t, shippedFolder(t)), New: load(t, changedFolder(t)), Parse: python.Parse, Workers: 3, Progress: func(done int) { last = max(last, done) }}
	got, err := c.Compare(context.Background(), asked)
	if err != nil {
		t.Fatal(err)
	}
	want := map[Outcome]int{NewlyRefused: 3, NewlyAllowed: 3, Changed: 2, Same: 2, Unparsed: 1, Undecided: 0}
	for o, n := range want {
		if got.Counts[o] != n {
			t.Errorf("%s: %d, want %d", o, got.Counts[o], n)
		}
	}
	if python.Times() != 7 || got.Programs != 7 || got.Cases != 11 || last != 11 {
		t.Errorf("parsed %d times, %d programs, %d cases, %d told", python.Times(), got.Programs, got.Cases, last)
	}
	if d := got.Differences[0]; d.Outcome != NewlyAllowed || len(d.Lost()) == 0 || len(d.Gained()) != 0 {
		t.Errorf("first difference: %+v", d)
	}
	if tally := got.Rules["blocked-path"]; tally == nil || tally.NewlyRefused != 3 || tally.NewlyAllowed != 3 {
		t.Errorf("blocked-path: %+v", tally)
	}
	if tally := got.Callers["b"]; tally == nil || tally.Cases != 5 || tally.NewlyAllowed != 2 || tally.Changed != 2 || tally.NewlyRefused != 1 {
		t.Errorf("caller b: %+v", tally)
	}
	if !got.Loosened() {
		t.Error("it is not told as loosened")
	}
}

func TestWhatHasNoVerdict(t *testing.T) {
	python := policytest.Start(t)
	p := load(t, shippedFolder(t))
	unknown := cases("print(1)", "a")
	unknown[0].Profile = "no-such"
	calc := cases("1+1", "a")
	calc[0].Language = "calc"
	got, err := (&Comparer{Old: p, New: p, Parse: python.Parse}).Compare(context.Background(), append(append(unknown, calc...), cases("print(2)", "a")...))
	if err != nil || got.Counts[Undecided] != 2 || got.Counts[Same] != 1 || !got.Loosened() {
		t.Errorf("%+v, %v", got, err)
	}
	if why := got.Differences[0].Why + got.Differences[1].Why; !strings.Contains(why, "no-such") || !strings.Contains(why, "no parser for") {
		t.Errorf("why: %s", why)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := (&Comparer{Old: p, New: p, Parse: python.Parse}).Compare(ctx, cases("print(1)", "a")); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// Ten thousand recorded decisions of four callers, against a policy that refuses
// one name more and one fewer: every count is right, each program is parsed once.
func TestTenThousandDecisions(t *testing.T) {
	python := policytest.Start(t)
	old, changed := load(t, shippedFolder(t)), load(t, changedFolder(t))
	const all, programs = 10_000, 200
	var asked []Case
	for i := range all {
		code := fmt.Sprintf("print(%d)\n", i%programs)
		switch i % programs {
		case 0:
			code = "import numpy\nnumpy.random.seed(1)\n"
		case 1:
			code = "open('x')\n"
		}
		one := cases(code, []string{"a", "b", "c", "d"}[i/programs%4])[0]
		one.Recorded = &Verdict{Allow: i%programs != 1, Reasons: []Reason{}}
		if !one.Recorded.Allow {
			one.Recorded.Reasons = []Reason{{Rule: "blocked-name", Level: "error", Line: 1, Column: 1}}
		}
		asked = append(asked, one)
	}
	done := 0
	c := Comparer{Old: old, New: changed, Parse: python.Parse, Workers: 4, Progress: func(n int) { done = n }}
	got, err := c.Compare(context.Background(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if python.Times() != programs || got.Programs != programs || done != all {
		t.Errorf("parsed %d times, %d programs, told of %d", python.Times(), got.Programs, done)
	}
	if got.Counts[NewlyRefused] != all/programs || got.Counts[NewlyAllowed] != all/programs || got.Counts[Same] != all-2*all/programs {
		t.Errorf("%+v", got.Counts)
	}
	sum := 0
	for _, caller := range got.Callers {
		sum += caller.Cases
	}
	if sum != all || got.Rules["blocked-name"].NewlyAllowed != all/programs || got.Rules["blocked-path"].NewlyRefused != all/programs {
		t.Errorf("callers %d, rules %+v %+v", sum, got.Rules["blocked-name"], got.Rules["blocked-path"])
	}
}
