package policy

import (
	"context"
	"strings"
	"testing"
)

func TestExplaining(t *testing.T) {
	s, python := shipped(t)
	code := []byte("import os\nimport numpy as np\n\nprint(eval('1'))\nnp.load('x')\n")
	e, err := s.Explain(context.Background(), ask(t, s, python, "tool", code))
	if err != nil {
		t.Fatal(err)
	}
	plain := decide(t, s, ask(t, s, python, "tool", code))
	if e.Decision.Allow != plain.Allow || len(e.Decision.Violations) < len(plain.Violations) {
		t.Errorf("explained %+v, decided %+v", e.Decision, plain)
	}
	runs := map[string]RuleRun{}
	for _, run := range e.Rules {
		runs[run.Rule.ID] = run
		if run.Findings != nil && (run.Entered == 0 || len(run.Sections) == 0 || len(run.Looked) == 0) {
			t.Errorf("%s: entered %d times, sections %v, looked up %v", run.Rule.ID, run.Entered, run.Sections, run.Looked)
		}
	}
	if got := strings.Join(runs["class-making"].Sections, " "); got != "calls classes found values" {
		t.Errorf("class-making reads %s", got)
	}
	if e.Rules[0].Findings == nil {
		t.Error("rules with findings do not come first")
	}
	for rule, want := range map[string]struct{ text, list string }{
		"blocked-name": {"eval", "blocked_names"}, "blocked-path": {"numpy.load", "blocked_paths"},
	} {
		f := runs[rule].Findings
		if len(f) != 1 || len(f[0].Entries) == 0 {
			t.Fatalf("%s: %+v", rule, f)
		}
		var lists []string
		for _, entry := range f[0].Entries {
			lists = append(lists, entry.List)
			if entry.List == want.list && (entry.Text != want.text || entry.File != "allowlist.rego" || entry.Line == 0) {
				t.Errorf("%s: %+v", rule, entry)
			}
		}
		if !strings.Contains(strings.Join(lists, " "), want.list) {
			t.Errorf("%s: entries of %q, want one of %s", rule, lists, want.list)
		}
	}
	if f := runs["blocked-import"].Findings; len(f) != 1 || len(f[0].Entries) != 0 || !strings.Contains(strings.Join(f[0].Absent, " "), "allowed_imports") {
		t.Errorf("blocked-import: %+v", f)
	}
	looked := runs["blocked-name"].Looked
	if len(looked) == 0 || looked[0].Path != `input.ast.bound["eval"]` && !strings.Contains(looked[len(looked)-1].Path, "eval") {
		t.Errorf("looked up %+v", looked)
	}
}
