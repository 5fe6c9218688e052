package workbench

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Case is one program as it was or would be submitted.
type Case struct {
	Name     string // its file, or the decision's id
	Language string
	Tool     string
	Profile  string
	Caller   string
	Session  bool
	Code     []byte
	Recorded *Verdict // what was decided; nil: the old policy is asked
}

// Verdict is what matters of a decision when two are compared.
type Verdict struct {
	Allow   bool     `json:"allow"`
	Reasons []Reason `json:"rules"` // by place and rule

	cut bool // a log has no more than these
}

// Reason is a rule that a program breaks, and where.
type Reason struct {
	Rule   string `json:"rule"`
	Level  string `json:"level"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// Outcome is how two verdicts differ.
type Outcome string

// The outcomes. Undecided is a program that one of the policies gave no verdict
// on, for a fault; Unparsed is a text that never comes before a policy.
const (
	Same         Outcome = "same"
	NewlyRefused Outcome = "newly_refused"
	NewlyAllowed Outcome = "newly_allowed"
	Changed      Outcome = "changed_reasons"
	Undecided    Outcome = "undecided"
	Unparsed     Outcome = "does_not_parse"
)

// Comparer asks two policies about programs that are parsed once.
type Comparer struct {
	Old, New gateway.Policy // Old may be nil where every case is recorded
	// Parse has a plugin parse a program, without running it; a result says
	// that it does not parse. Called from Workers goroutines.
	Parse func(ctx context.Context, language string, code []byte, sections []string) (executor.Tree, *executor.Result, error)
	// Workers bounds how many programs are parsed at once; 0: 1.
	Workers int
	// Progress is told how many cases are done, never twice at once; nil: nobody is.
	Progress func(done int)
}

// Compare asks about every case. A program that stands there several times is
// parsed once, and asked about once for each caller and profile. An error is
// that of ctx: what becomes of a single case is an outcome.
func (c *Comparer) Compare(ctx context.Context, cases []Case) (*Comparison, error) {
	programs := group(cases)
	out := newComparison(len(cases), len(programs))
	var mu sync.Mutex
	var all sync.WaitGroup
	slots := make(chan struct{}, max(c.Workers, 1))
	for _, p := range programs {
		if ctx.Err() != nil {
			break
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			found := c.judge(ctx, p)
			mu.Lock()
			defer mu.Unlock()
			for _, d := range found {
				out.add(d)
			}
			if c.Progress != nil {
				c.Progress(out.Cases - out.left)
			}
		})
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("compare: %w", context.Cause(ctx))
	}
	out.sort()
	return out, nil
}

// program is one text and the cases in which it stands.
type program struct {
	language string
	code     []byte
	asked    []*asked
}

// asked is one question and how often it was put.
type asked struct {
	Case
	times int
}

type programKey struct {
	language string
	digest   [sha256.Size]byte
}

// group gathers the cases by program, in the order in which they came.
func group(cases []Case) []*program {
	byKey := map[programKey]*program{}
	var programs []*program
	for _, one := range cases {
		key := programKey{one.Language, sha256.Sum256(one.Code)}
		p := byKey[key]
		if p == nil {
			p = &program{language: one.Language, code: one.Code}
			byKey[key] = p
			programs = append(programs, p)
		}
		i := slices.IndexFunc(p.asked, func(a *asked) bool { return a.alike(one) })
		if i < 0 {
			p.asked = append(p.asked, &asked{Case: one, times: 1})
			continue
		}
		p.asked[i].times++
	}
	return programs
}

func (a *asked) alike(c Case) bool {
	if a.Tool != c.Tool || a.Profile != c.Profile || a.Caller != c.Caller || a.Session != c.Session {
		return false
	}
	if a.Recorded == nil || c.Recorded == nil {
		return a.Recorded == c.Recorded
	}
	return a.Recorded.equal(*c.Recorded)
}

func (v Verdict) equal(other Verdict) bool {
	a, b := v.Reasons, other.Reasons
	if most := min(len(a), len(b)); v.cut || other.cut {
		a, b = a[:most], b[:most]
	}
	return v.Allow == other.Allow && slices.Equal(a, b)
}

// judge parses a program and asks both policies about it.
func (c *Comparer) judge(ctx context.Context, p *program) []Difference {
	tree, o, why := c.parse(ctx, p)
	found := make([]Difference, 0, len(p.asked))
	for _, a := range p.asked {
		d := Difference{Case: a.Case, times: a.times, Outcome: o, Why: why}
		if why == "" {
			d.Old, d.New, d.Why = c.both(ctx, a.Case, tree)
			d.Outcome = outcomeOf(d)
		}
		found = append(found, d)
	}
	return found
}

// parse gives the tree, or what becomes of a program that has none, and why.
func (c *Comparer) parse(ctx context.Context, p *program) (executor.Tree, Outcome, string) {
	sections, err := c.sections(p.language)
	if err != nil {
		return executor.Tree{}, Undecided, err.Error()
	}
	tree, ended, err := c.Parse(ctx, p.language, p.code, sections)
	switch {
	case err != nil:
		return tree, Undecided, fmt.Sprintf("parse: %v", err)
	case ended != nil && ended.Problem != nil:
		return tree, Unparsed, fmt.Sprintf("%s: %s", ended.Problem.Type, ended.Problem.Message)
	case ended != nil:
		return tree, Unparsed, fmt.Sprintf("%v", ended.Status)
	}
	return tree, Same, ""
}

// sections are what either policy reads; nil: all.
func (c *Comparer) sections(language string) ([]string, error) {
	union := []string{}
	for _, p := range []gateway.Policy{c.Old, c.New} {
		if p == nil {
			continue
		}
		sections, err := p.Sections(language)
		switch {
		case errors.Is(err, gateway.ErrNoPolicy):
			continue // that policy will say so itself
		case err != nil:
			return nil, err
		case sections == nil:
			return nil, nil
		}
		union = append(union, sections...)
	}
	slices.Sort(union)
	return slices.Compact(union), nil
}

func (c *Comparer) both(ctx context.Context, one Case, tree executor.Tree) (before, after Verdict, why string) {
	if one.Recorded != nil {
		before = *one.Recorded
	} else if before, why = ask(ctx, c.Old, one, tree); why != "" {
		return before, after, "the old policy: " + why
	}
	if after, why = ask(ctx, c.New, one, tree); why != "" {
		return before, after, "the new policy: " + why
	}
	return before, after, ""
}

func ask(ctx context.Context, p gateway.Policy, one Case, tree executor.Tree) (Verdict, string) {
	if p == nil {
		return Verdict{}, "there is none, and no decision was recorded"
	}
	d, err := p.Decide(ctx, gateway.Question{
		Language: one.Language, Tool: one.Tool, Profile: one.Profile, Caller: one.Caller, Session: one.Session,
		Source: executor.Source{Language: one.Language, Code: one.Code}, Tree: tree,
	})
	if err != nil {
		return Verdict{}, err.Error()
	}
	return VerdictOf(d), ""
}

// VerdictOf is what matters of a decision.
func VerdictOf(d gateway.Decision) Verdict {
	v := Verdict{Allow: d.Allow, Reasons: make([]Reason, 0, len(d.Violations))}
	for _, one := range d.Violations {
		v.Reasons = append(v.Reasons, Reason{Rule: one.Rule, Level: one.Level, Line: one.Line, Column: one.Column})
	}
	return v.sorted()
}

// sorted brings the reasons into one order and leaves out what stands there
// twice.
func (v Verdict) sorted() Verdict {
	slices.SortFunc(v.Reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Level, b.Level))
	})
	v.Reasons = slices.Compact(v.Reasons)
	return v
}

func outcomeOf(d Difference) Outcome {
	switch {
	case d.Why != "":
		return Undecided
	case d.Old.Allow && !d.New.Allow:
		return NewlyRefused
	case !d.Old.Allow && d.New.Allow:
		return NewlyAllowed
	case !d.Old.equal(d.New):
		return Changed
	}
	return Same
}
