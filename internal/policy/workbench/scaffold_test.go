package workbench

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluice-gateway/sluice/internal/policy/policytest"
)

func TestANewRuleIsWhole(t *testing.T) {
	python := policytest.Start(t)
	for name, s := range map[string]Scaffold{
		"paths":       {Language: "python", Rule: "no-numpy-empty", Refuses: []string{"numpy.empty", "numpy.empty_like"}},
		"a name":      {Language: "python", Rule: "no-sorted", Refuses: []string{"sorted"}},
		"the example": {Language: "python", Rule: "one"},
	} {
		folder := shippedFolder(t)
		files, err := s.Files(folder)
		if err != nil || len(files) != 4 {
			t.Fatalf("%s: %v, %v", name, files, err)
		}
		for _, f := range files {
			folder[f.Name] = &fstest.MapFile{Data: []byte(f.Text)}
		}
		run, err := RunTests(context.Background(), folder, `^data\.custom\.`)
		if err != nil || run.Failed() != 0 || len(run.Tests) < 2 {
			t.Errorf("%s: %d tests, %v", name, len(run.Tests), err)
		}
		p := load(t, folder)
		got, err := (&Comparer{Old: load(t, shippedFolder(t)), New: p, Parse: python.Parse}).Compare(context.Background(), cases(files[2].Text, "a"))
		if err != nil || got.Counts[Same] != 0 || got.Counts[NewlyAllowed] != 0 {
			t.Errorf("%s: refused program: %+v, %v", name, got, err)
		}
		for _, reason := range got.Differences[0].Gained() {
			if reason.Rule != s.Rule || !strings.Contains(files[2].Text, s.Rule+" "+string(rune('0'+reason.Line))) {
				t.Errorf("%s: %+v, expected %s", name, reason, files[2].Text)
			}
		}
		if _, err := s.Files(folder); err == nil || !strings.Contains(err.Error(), "there already") {
			t.Errorf("%s: a second time: %v", name, err)
		}
	}
}

// A rule that takes the place of an entry of a list finds what the entry found:
// by each of the ways in which a program can come to a part of a library.
func TestANewRuleFindsWhatTheListFound(t *testing.T) {
	python := policytest.Start(t)
	folder := shippedFolder(t)
	list := folder["allowlist.rego"]
	folder["allowlist.rego"] = &fstest.MapFile{Data: bytes.Replace(list.Data, []byte(`"numpy.load", `), nil, 1)}
	files, err := Scaffold{Language: "python", Rule: "no-numpy-load", Refuses: []string{"numpy.load"}}.Files(folder)
	if err != nil || bytes.Equal(list.Data, folder["allowlist.rego"].Data) {
		t.Fatal(err, "or no entry to take out")
	}
	for _, f := range files {
		folder[f.Name] = &fstest.MapFile{Data: []byte(f.Text)}
	}
	for name, program := range map[string]string{
		"by path":      "import numpy as np\nprint(np.load(name))\n",
		"renamed":      "from numpy import load as read\nprint(read(name))\n",
		"star":         "from numpy import *\nprint(load(name))\n",
		"handed on":    "import numpy\nprint([numpy][0].load(name))\n",
		"own function": "from numpy import *\ndef load(x): return x\nprint(load(1))\n",
	} {
		got, err := (&Comparer{Old: load(t, shippedFolder(t)), New: load(t, folder), Parse: python.Parse}).Compare(context.Background(), cases(program, "a"))
		if err != nil || got.Counts[NewlyAllowed]+got.Counts[NewlyRefused]+got.Counts[Undecided]+got.Counts[Unparsed] != 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestRulesThatCannotBegin(t *testing.T) {
	for want, s := range map[string]Scaffold{
		"an id is words":             {Language: "python", Rule: "No_Load"},
		"neither a name":             {Language: "python", Rule: "x", Refuses: []string{"a b"}},
		"begins with a plain name":   {Language: "calc", Rule: "x", Refuses: []string{"a.b"}},
		`no rules for language "js"`: {Language: "js", Rule: "x"},
		"are two rules":              {Language: "python", Rule: "x", Refuses: []string{"a.b", "a"}},
		"blocked-path":               {Language: "python", Rule: "blocked-path"},
	} {
		if _, err := s.Files(shippedFolder(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
}
