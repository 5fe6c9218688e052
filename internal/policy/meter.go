package policy

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/profiler"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Meter adds up what the rules of one language cost over many questions. Not
// safe for concurrent use.
type Meter struct {
	revision *revision
	language string
	spent    map[string]map[int]profiler.ExprStats // by file and line
	asked    int
	plain    time.Duration
}

// Cost is what one rule took of all questions. Watching slows evaluation down,
// so Time is the rule's share of the time that the questions took unwatched.
type Cost struct {
	Rule     string        // id of a deny rule; else the name of what several rules share
	Shared   bool          // it is no deny rule
	File     string        // where it stands
	Line     int           // of its definition; the first of several
	Time     time.Duration // over all questions
	Evals    int           // expressions evaluated
	Sections []string      // that it can read; nil: all. Of deny rules alone
	Alone    []string      // of these, those that the executor sends because of this rule alone
}

// NewMeter makes a Meter for the policy in force.
func (s *Store) NewMeter(language string) (*Meter, error) {
	r := s.current.Load()
	if r == nil || r.languages[language] == nil {
		return nil, gateway.ErrNoPolicy
	}
	return &Meter{revision: r, language: language, spent: map[string]map[int]profiler.ExprStats{}}, nil
}

// Ask decides twice: once to take the time, once watched.
func (m *Meter) Ask(ctx context.Context, q gateway.Question) error {
	begin := time.Now()
	if _, err := m.revision.Decide(ctx, q); err != nil {
		return err
	}
	m.plain += time.Since(begin)
	m.asked++
	watch := profiler.New() // one for each: it counts the time from one event to the next
	if _, _, err := m.revision.watched(ctx, q, watch, corpusPatience*m.revision.host.deadline); err != nil {
		return err
	}
	for file, report := range watch.ReportByFile().Files {
		lines := m.spent[file]
		if lines == nil {
			lines = map[int]profiler.ExprStats{}
			m.spent[file] = lines
		}
		for _, stat := range report.Result {
			line := lines[stat.Location.Row]
			line.ExprTimeNs += stat.ExprTimeNs
			line.NumEval += stat.NumEval
			lines[stat.Location.Row] = line
		}
	}
	return nil
}

// Asked is how many questions there were, and how long they took unwatched.
func (m *Meter) Asked() (int, time.Duration) { return m.asked, m.plain }

// Costs lists the rules, the dearest first. The profile of a rule is not looked
// at: one that is off there costs the same.
func (m *Meter) Costs() []Cost {
	l := m.revision.languages[m.language]
	costs := m.deniers(l)
	ids, starts := l.source.ids(), l.source.starts()
	total := time.Duration(0)
	for file, lines := range m.spent {
		for row, stat := range lines {
			rule := under(starts[file], row)
			if rule == nil {
				continue
			}
			key := ids[placeOf(rule)]
			if key == "" {
				key = rule.Ref().String()
			}
			c := costs[key]
			if c == nil {
				c = &Cost{Rule: key, Shared: true, File: file, Line: rule.Location.Row}
				costs[key] = c
			}
			c.Time += time.Duration(stat.ExprTimeNs)
			c.Evals += stat.NumEval
			total += time.Duration(stat.ExprTimeNs)
		}
	}
	list := make([]Cost, 0, len(costs))
	for _, key := range sortedKeys(costs) {
		c := *costs[key]
		if total > 0 {
			c.Time = time.Duration(float64(c.Time) / float64(total) * float64(m.plain))
		}
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(a, b Cost) int { return cmp.Compare(b.Time, a.Time) })
	return list
}

// deniers are the deny rules with their sections; nothing is added up yet.
func (m *Meter) deniers(l *language) map[string]*Cost {
	costs, readers := map[string]*Cost{}, map[string]int{}
	for id, reads := range l.source.readings(l.rules) {
		costs[id] = &Cost{Rule: id, File: reads.rule.File, Line: reads.rule.Line, Sections: reads.sections}
		for _, section := range reads.sections {
			readers[section]++
		}
	}
	for _, c := range costs {
		for _, section := range c.Sections {
			if readers[section] == 1 {
				c.Alone = append(c.Alone, section)
			}
		}
	}
	return costs
}

// starts are the rules of each file in the order of their lines.
func (c *compiled) starts() map[string][]*ast.Rule {
	starts := map[string][]*ast.Rule{}
	for file, module := range c.modules {
		rules := slices.Clone(module.Rules)
		slices.SortFunc(rules, func(a, b *ast.Rule) int { return cmp.Compare(a.Location.Row, b.Location.Row) })
		starts[file] = rules
	}
	return starts
}

// under is the rule in which a line lies: the last one that begins no later.
func under(rules []*ast.Rule, line int) (found *ast.Rule) {
	for _, rule := range rules {
		if rule.Location.Row > line {
			break
		}
		found = rule
	}
	return found
}
