package policy

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"
)

func TestMeter(t *testing.T) {
	s, python := shipped(t)
	m, err := s.NewMeter("python")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("testdata/python/fifty.py")
	if err != nil {
		t.Fatal(err)
	}
	q := ask(t, s, python, "solve", code)
	for range 3 {
		if err := m.Ask(context.Background(), q); err != nil {
			t.Fatal(err)
		}
	}
	n, plain := m.Asked()
	if n != 3 || plain <= 0 {
		t.Errorf("asked %d in %v", n, plain)
	}
	costs := m.Costs()
	sum, seen := time.Duration(0), map[string]Cost{}
	for _, c := range costs {
		sum += c.Time
		seen[c.Rule] = c
	}
	if sum > plain || sum < plain/2 {
		t.Errorf("the costs add up to %v of %v", sum, plain)
	}
	if c := seen["blocked-import"]; c.Evals == 0 || c.Time == 0 || c.File != "python_imports.rego" || !slices.Contains(c.Sections, "imports") {
		t.Errorf("blocked-import: %+v", c)
	}
	if c := seen["decorator-expression"]; !slices.Equal(c.Alone, []string{"decorators"}) {
		t.Errorf("decorator-expression alone reads %v", c.Alone)
	}
	if !slices.ContainsFunc(costs, func(c Cost) bool { return c.Shared && c.Time > 0 }) {
		t.Error("nothing is shared")
	}
	if _, err := s.NewMeter("none"); err == nil {
		t.Error("a meter for a language without rules")
	}
}
