package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-gateway/sluice/internal/policy/workbench"
)

// side is one of two policies that are compared.
type side struct {
	Folder   string `json:"folder"`
	Revision string `json:"revision,omitempty"` // none: the decisions were recorded
}

// differing is what was compared.
type differing struct {
	Old, New side
	Log      *workbench.Log // nil: none was read
}

// comparedJSON is a comparison for machines.
type comparedJSON struct {
	Old         side                        `json:"old"`
	New         side                        `json:"new"`
	Log         *logJSON                    `json:"log,omitempty"`
	Cases       int                         `json:"cases"`
	Programs    int                         `json:"programs"`
	Counts      map[workbench.Outcome]int   `json:"counts"`
	Rules       map[string]*workbench.Tally `json:"rules"`
	Callers     map[string]*workbench.Tally `json:"callers"`
	Differences []differenceJSON            `json:"differences"`
}

type logJSON struct {
	Lines     int            `json:"lines"`
	Decisions int            `json:"decisions"`
	Cells     int            `json:"session_cells"`
	Skipped   map[string]int `json:"skipped"`
}

type differenceJSON struct {
	Name    string            `json:"name"`
	Profile string            `json:"profile"`
	Caller  string            `json:"caller"`
	Times   int               `json:"times"`
	Outcome workbench.Outcome `json:"outcome"`
	Why     string            `json:"why,omitempty"`
	Old     workbench.Verdict `json:"old"`
	New     workbench.Verdict `json:"new"`
}

// show tells a comparison; the error is the exit status that it means.
func (c *comparing) show(what differing, found *workbench.Comparison) error {
	err := c.tell(comparedOf(what, found), func(p *painter) error { return (&comparisonText{p, c.limit}).show(what, found) })
	if err == nil && found.Loosened() {
		err = &exitError{status: exitFailed}
	}
	return err
}

func comparedOf(what differing, found *workbench.Comparison) comparedJSON {
	out := comparedJSON{
		Old: what.Old, New: what.New, Cases: found.Cases, Programs: found.Programs, Counts: found.Counts,
		Rules: found.Rules, Callers: found.Callers, Differences: []differenceJSON{},
	}
	if l := what.Log; l != nil {
		out.Log = &logJSON{l.Lines, l.Decisions, l.Cells, l.Skipped}
	}
	for _, d := range found.Differences {
		out.Differences = append(out.Differences, differenceJSON{
			Name: d.Name, Profile: d.Profile, Caller: d.Caller, Times: d.Times(), Outcome: d.Outcome, Why: d.Why, Old: d.Old, New: d.New,
		})
	}
	return out
}

// comparisonText writes a comparison for people.
type comparisonText struct {
	*painter
	limit int // differences; 0: all
}

// outcomeWords are how outcomes are told.
func outcomeWords(o workbench.Outcome) string { return strings.ReplaceAll(string(o), "_", " ") }

func (p *comparisonText) show(what differing, found *workbench.Comparison) error {
	for i, d := range found.Differences {
		if p.limit > 0 && i == p.limit {
			p.printf("… and %d more; --limit 0 shows all\n", len(found.Differences)-p.limit)
			break
		}
		p.difference(d)
	}
	p.tallies("rule", found.Rules)
	if what.Log != nil {
		p.tallies("caller", found.Callers)
		p.log(what.Log)
	}
	p.printf("old: %s\nnew: %s\n", what.Old, what.New)
	counts := make([]string, 0, len(found.Counts))
	for _, o := range []workbench.Outcome{workbench.NewlyRefused, workbench.NewlyAllowed, workbench.Changed, workbench.Undecided, workbench.Unparsed, workbench.Same} {
		if n := found.Counts[o]; n > 0 || o == workbench.NewlyRefused || o == workbench.NewlyAllowed || o == workbench.Changed {
			text := fmt.Sprintf("%d %s", n, outcomeWords(o))
			if n > 0 && o == workbench.NewlyAllowed {
				text = p.paint(red, text)
			}
			counts = append(counts, text)
		}
	}
	p.printf("%s on %s: %s\n", plural(found.Cases, "decision"), plural(found.Programs, "program"), strings.Join(counts, ", "))
	return p.err
}

func (s side) String() string {
	if s.Revision == "" {
		return s.Folder
	}
	return s.Folder + ", revision " + s.Revision
}

func (p *comparisonText) difference(d workbench.Difference) {
	head := fmt.Sprintf("%s: %s (profile %s, caller %s)", p.paint(bold, d.Name), outcomeWords(d.Outcome), d.Profile, d.Caller)
	if d.Times() > 1 {
		head += fmt.Sprintf(", %d times", d.Times())
	}
	p.printf("%s\n", head)
	if d.Why != "" {
		p.printf("  %s\n", d.Why)
		return
	}
	lines := bytes.Split(d.Code, []byte("\n"))
	for _, r := range d.Lost() {
		p.printf("  - %s%s\n", reasonText(r), beside(lines, r.Line))
	}
	for _, r := range d.Gained() {
		p.printf("  + %s%s\n", reasonText(r), beside(lines, r.Line))
	}
}

// maxBeside bounds what is shown of a source line beside a reason, in characters.
const maxBeside = 60

// beside is the source line that a reason is about.
func beside(lines [][]byte, line int) string {
	if line < 1 || line > len(lines) {
		return ""
	}
	chars := printable(strings.TrimSpace(string(lines[line-1])))
	if len(chars) > maxBeside {
		chars = append(chars[:maxBeside], '…')
	}
	return "  " + string(chars)
}

func reasonText(r workbench.Reason) string {
	return fmt.Sprintf("%d:%d: %s (%s)", r.Line, r.Column, r.Rule, r.Level)
}

// tallies is a table of all that differ, the most cases first.
func (p *comparisonText) tallies(what string, all map[string]*workbench.Tally) {
	names := slices.DeleteFunc(sortedNames(all), func(name string) bool {
		t := all[name]
		return what == "rule" && t.NewlyRefused+t.NewlyAllowed+t.Changed+t.Undecided == 0
	})
	if len(names) == 0 {
		return
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(all[b].Cases, all[a].Cases) })
	p.printf("%-24s %9s %13s %13s %8s %10s\n", what, "decisions", "newly refused", "newly allowed", "changed", "undecided")
	for _, name := range names {
		t := all[name]
		p.printf("%-24s %9d %13d %13d %8d %10d\n", name, t.Cases, t.NewlyRefused, t.NewlyAllowed, t.Changed, t.Undecided)
	}
}

func (p *comparisonText) log(l *workbench.Log) {
	p.printf("log: %s, %s", plural(l.Lines, "line"), plural(l.Decisions, "decision"))
	if l.Cells > 0 {
		p.printf(", %d of them cells of sessions", l.Cells)
	}
	p.printf("\n")
	for _, why := range sortedNames(l.Skipped) {
		p.printf("  %d left out: %s\n", l.Skipped[why], why)
	}
}
