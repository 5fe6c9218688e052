package workbench

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Difference is one case on which two policies differ, or that has no verdict.
type Difference struct {
	Case
	Outcome Outcome
	Old     Verdict
	New     Verdict
	Why     string // of Undecided

	times int // how many cases were alike
}

// Times is how many cases were alike: same program, caller and profile.
func (d Difference) Times() int { return d.times }

// Comparison is what became of all cases. A case that was put several times
// counts as often.
type Comparison struct {
	Cases       int             // that were put
	Programs    int             // distinct ones
	Counts      map[Outcome]int // cases
	Rules       map[string]*Tally
	Callers     map[string]*Tally
	Differences []Difference // all but Same, the newly allowed first

	left int
}

// Tally counts the cases of a rule or a caller.
type Tally struct {
	Cases        int `json:"cases"` // of a caller: all; of a rule: where either policy finds it
	NewlyRefused int `json:"newly_refused"`
	NewlyAllowed int `json:"newly_allowed"`
	Changed      int `json:"changed_reasons"`
	Undecided    int `json:"undecided"`
}

func newComparison(cases, programs int) *Comparison {
	return &Comparison{
		Cases: cases, Programs: programs, left: cases,
		Counts: map[Outcome]int{Same: 0, NewlyRefused: 0, NewlyAllowed: 0, Changed: 0, Undecided: 0, Unparsed: 0},
		Rules:  map[string]*Tally{}, Callers: map[string]*Tally{},
	}
}

func (c *Comparison) add(d Difference) {
	c.left -= d.times
	c.Counts[d.Outcome] += d.times
	tally(c.Callers, d.Caller, d.Outcome, d.times)
	before, after := errorsOf(d.Old), errorsOf(d.New)
	for rule := range before {
		if !after[rule] || d.Outcome == Same {
			tally(c.Rules, rule, d.Outcome, d.times)
		}
	}
	for rule := range after {
		if !before[rule] {
			tally(c.Rules, rule, d.Outcome, d.times)
		}
	}
	if d.Outcome != Same {
		c.Differences = append(c.Differences, d)
	}
}

// errorsOf are the rules that refuse.
func errorsOf(v Verdict) map[string]bool {
	rules := map[string]bool{}
	for _, r := range v.Reasons {
		if r.Level == gateway.LevelError {
			rules[r.Rule] = true
		}
	}
	return rules
}

func tally(all map[string]*Tally, name string, o Outcome, times int) {
	t := all[name]
	if t == nil {
		t = &Tally{}
		all[name] = t
	}
	t.Cases += times
	switch o {
	case NewlyRefused:
		t.NewlyRefused += times
	case NewlyAllowed:
		t.NewlyAllowed += times
	case Changed:
		t.Changed += times
	case Undecided:
		t.Undecided += times
	}
}

func (c *Comparison) sort() {
	order := []Outcome{NewlyAllowed, Undecided, NewlyRefused, Changed, Unparsed}
	slices.SortStableFunc(c.Differences, func(a, b Difference) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.Outcome), slices.Index(order, b.Outcome)),
			strings.Compare(a.Name, b.Name), strings.Compare(a.Profile, b.Profile), strings.Compare(a.Caller, b.Caller),
		)
	})
}

// Loosened says whether a program is allowed that was refused, or has no
// verdict for a fault.
func (c *Comparison) Loosened() bool { return c.Counts[NewlyAllowed]+c.Counts[Undecided] > 0 }

// Gained are the reasons of New that Old has not, and Lost the other way round.
func (d Difference) Gained() []Reason { return without(d.New.Reasons, d.Old.Reasons) }

// Lost are the reasons of Old that New has not.
func (d Difference) Lost() []Reason { return without(d.Old.Reasons, d.New.Reasons) }

func without(list, other []Reason) []Reason {
	var left []Reason
	for _, r := range list {
		if !slices.Contains(other, r) {
			left = append(left, r)
		}
	}
	return left
}
