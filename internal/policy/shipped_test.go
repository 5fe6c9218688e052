package policy

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/policy/policytest"
)

const (
	shippedPolicies = "../../policies"
	pythonRuntime   = "../../plugins/python-exec/runtime"
	interpreter     = "../../.venv/bin/python"
)

func shippedFS() fs.FS { return os.DirFS(shippedPolicies) }

// shipped is the policy in this repository, proved by its corpus with documents
// of the Python runtime.
func shipped(tb testing.TB) (*Store, *policytest.Python) {
	tb.Helper()
	return loadShipped(tb, false)
}

// unproved is the same without a run of its corpus.
func unproved(tb testing.TB) (*Store, *policytest.Python) {
	tb.Helper()
	return loadShipped(tb, true)
}

func loadShipped(tb testing.TB, skipCorpus bool) (*Store, *policytest.Python) {
	tb.Helper()
	python := policytest.Start(tb)
	s, err := Load(context.Background(), Config{
		FS: os.DirFS(shippedPolicies), Parse: python.Parse, SkipCorpus: skipCorpus,
		Languages: []executor.Language{policytest.Language(tb)},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s, python
}

func ask(tb testing.TB, s *Store, python *policytest.Python, profile string, code []byte) gateway.Question {
	tb.Helper()
	sections, err := current(tb, s).Sections("python")
	if err != nil {
		tb.Fatal(err)
	}
	tree, ended, err := python.Parse(context.Background(), "python", code, sections)
	if err != nil || ended != nil {
		tb.Fatal(ended, err)
	}
	return gateway.Question{
		Language: "python", Tool: "python", Profile: profile, Caller: "worker",
		Source: executor.Source{Language: "python", Code: code}, Tree: tree,
	}
}

func TestTheShippedPolicyLoads(t *testing.T) {
	s, python := shipped(t)
	st := s.Status()
	if st.Corpus == 0 || st.AdmitsAll || st.Sections["python"] == nil {
		t.Errorf("status %+v", st)
	}
	for _, w := range st.Warnings {
		if !strings.Contains(w, "calc") {
			t.Errorf("warning: %s", w)
		}
	}
	d := decide(t, s, ask(t, s, python, "solve", []byte("import os\n\nprint(eval('1'))\n")))
	if d.Allow || len(d.Violations) != 2 || d.Violations[0].Line != 1 || d.Violations[1].Line != 3 || d.Violations[0].Hint == "" || d.Violations[1].Title == "" {
		t.Errorf("decision %+v", d)
	}
}

func BenchmarkDecideShipped(b *testing.B) {
	s, python := unproved(b)
	code, err := os.ReadFile("testdata/python/fifty.py")
	if err != nil {
		b.Fatal(err)
	}
	profiles := s.Status().Profiles
	for _, name := range append(slices.Clone(profiles), "cell") {
		q := ask(b, s, python, profiles[0], code)
		if q.Session = name == "cell"; !q.Session {
			q.Profile = name
		}
		b.Run(name, func(b *testing.B) {
			p := current(b, s)
			b.SetBytes(int64(len(q.Tree.JSON)))
			b.ReportAllocs()
			for b.Loop() {
				if d, err := p.Decide(context.Background(), q); err != nil || !d.Allow {
					b.Fatal(d, err)
				}
			}
		})
	}
}

func BenchmarkLoadShipped(b *testing.B) {
	_, python := shipped(b)
	for b.Loop() {
		if _, err := Load(context.Background(), Config{
			FS: os.DirFS(shippedPolicies), Parse: python.Parse,
			Languages: []executor.Language{policytest.Language(b)},
		}); err != nil {
			b.Fatal(err)
		}
	}
}

// One place is told of once, and the hint is the one for what stands there.
func TestHintsOfTheShippedPolicy(t *testing.T) {
	s, python := shipped(t)
	tests := map[string]struct{ rule, hint string }{
		"import numpy as np\nnp.loadtxt('x')":  {"blocked-path", "np.array"},
		"import sympy\nsympy.plotting.plot(1)": {"blocked-path", "plotly.graph_objects"},
		"\nimport sympy.plotting":              {"blocked-import", "plotly.graph_objects"},
		"\nimport threading":                   {"blocked-import", "one thread"},
		"\nimport warnings":                    {"blocked-import", "Leave it out"},
		"\nimport pandas":                      {"missing-import", "plotly.express"},
		"import plotly.graph_objects as go\ngo.Figure().write_html('x')": {"blocked-attribute", "fig.show()"},
		"\nopen('x')":     {"blocked-name", "no files"},
		"\nexit()":        {"blocked-name", "sys.exit()"},
		"\nhelp(1)":       {"blocked-name", "terminal"},
		"\ngetattr(1, x)": {"blocked-name", "x.name"},
	}
	for code, want := range tests {
		d := decide(t, s, ask(t, s, python, "solve", []byte(code)))
		if len(d.Violations) != 1 {
			t.Errorf("%q: %+v, want one violation", code, d.Violations)
			continue
		}
		if v := d.Violations[0]; v.Rule != want.rule || v.Line != 2 || !strings.Contains(v.Hint, want.hint) {
			t.Errorf("%q: %+v, want %+v", code, v, want)
		}
	}
	d := decide(t, s, ask(t, s, python, "solve", []byte("e = eval")))
	if d.Violations[0].Message != "eval is blocked" {
		t.Errorf("eval that is not called: %q", d.Violations[0].Message)
	}
}

// What a decision about 50 lines allocates is the measure of its cost that does
// not depend on the machine.
func TestAShippedDecisionAllocatesLittle(t *testing.T) {
	s, python := unproved(t)
	code, err := os.ReadFile("testdata/python/fifty.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, profile := range s.Status().Profiles {
		q, p := ask(t, s, python, profile, code), current(t, s)
		got := testing.AllocsPerRun(20, func() {
			if _, err := p.Decide(context.Background(), q); err != nil {
				t.Error(err)
			}
		})
		if got > maxShippedAllocations {
			t.Errorf("profile %s: %.0f allocations, at most %d", profile, got, maxShippedAllocations)
		}
	}
}
