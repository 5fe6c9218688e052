package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/policy"
)

func (a *app) policyExplainCommand() *cobra.Command {
	j := &judged{}
	var all bool
	cmd := &cobra.Command{
		Use: "explain FILE|-", Short: "Show which rules ran on a program, what they looked up, and which list entry matched", Args: cobra.ExactArgs(1),
		Long: `Decides about a program and watches the rules: for each finding the list entry that
speaks for it, with file and line, or the lists in which it is not; for each rule
how often it was tried and which keys of the document it looked up. Rules without
findings are told in one line each; --all tells their look-ups too.

Exit status: 0 allowed; 1 it does not parse, or the policy does not load; 2 wrong
command line or configuration; 3 refused.`,
		Example: "  gateway policy explain solution.py --policy-dir my-policies",
	}
	cmd.Flags().BoolVar(&all, "all", false, "tell the look-ups of rules without findings too")
	j.addFlags(a, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return j.on(cmd, args[0], func(ctx context.Context, h *house, s *policy.Store) error {
			q, err := j.question(ctx, h, s, false)
			if err != nil {
				return err
			}
			e, err := s.Explain(ctx, q)
			if err != nil {
				return pipelineError(err, j.p.tool)
			}
			err = j.tell(explainedOf(e), func(p *painter) error {
				return (&explainer{p, j.p.name, bytes.Split(j.p.code, []byte("\n")), all}).show(e)
			})
			if err == nil && !e.Decision.Allow {
				err = &exitError{status: exitRefused}
			}
			return err
		})
	}
	return cmd
}

// explainer writes an explanation for people.
type explainer struct {
	*painter
	name  string
	lines [][]byte
	all   bool
}

func (x *explainer) show(e policy.Explanation) error {
	for _, run := range e.Rules {
		for _, f := range run.Findings {
			x.finding(f)
		}
	}
	x.printf("%s\n", x.paint(bold, "Rules"))
	for _, run := range e.Rules {
		x.run(run)
	}
	word := "allowed"
	if !e.Decision.Allow {
		word = "refused"
	}
	x.printf("%s: %s by policy %s, profile %s\n", x.name, word, e.Decision.Revision, e.Decision.Profile)
	return x.err
}

func (x *explainer) finding(f policy.Finding) {
	x.violation(x.name, x.lines, f.Violation)
	for _, entry := range f.Entries {
		x.printf("  list: %q stands in %s (%s)\n", entry.Text, entry.List, entryPlace(entry))
	}
	if len(f.Absent) > 0 {
		x.printf("  list: %q is in none of those that the rule asks: %s\n", f.Subject, strings.Join(f.Absent, ", "))
	}
	if f.Covered != "" {
		x.printf("  covered: the answer leaves it out, %s says more of the same place\n", f.Covered)
	}
}

func entryPlace(e policy.ListEntry) string {
	if e.File == "" {
		return "added by the profile"
	}
	return fmt.Sprintf("%s:%d", e.File, e.Line)
}

func (x *explainer) run(run policy.RuleRun) {
	what := plural(len(run.Findings), "finding")
	switch {
	case run.Entered == 0:
		what = "not tried: what it starts from is not in the program"
	case len(run.Findings) == 0:
		what = "nothing found"
	}
	if run.Level != "error" {
		what += ", level " + run.Level
	}
	x.printf("  %-21s %s (%s:%d)\n", run.Rule.ID, what, run.Rule.File, run.Rule.Line)
	if len(run.Findings) == 0 && !x.all {
		return
	}
	x.printf("    reads      %s\n", sectionsText(run.Sections))
	for _, l := range run.Looked {
		there := "nothing there"
		if l.Found {
			there = "there"
		}
		x.printf("    looked up  %s: %s\n", l.Path, there)
	}
}

// explained is an explanation as JSON.
type explained struct {
	Allow      bool           `json:"allow"`
	DecisionID string         `json:"decision_id"`
	Policy     checkedPolicy  `json:"policy"`
	Rules      []explainedRun `json:"rules"`
}

type explainedRun struct {
	Rule     string             `json:"rule"`
	Title    string             `json:"title"`
	Level    string             `json:"level"`
	File     string             `json:"file"`
	Line     int                `json:"line"`
	Tried    int                `json:"tried"`
	Sections []string           `json:"sections"` // null: all
	Looked   []explainedLookup  `json:"looked_up"`
	Findings []explainedFinding `json:"findings"`
}

type explainedLookup struct {
	Path  string `json:"path"`
	Found bool   `json:"found"`
}

type explainedFinding struct {
	fullViolation
	CoveredBy string           `json:"covered_by,omitempty"`
	Entries   []explainedEntry `json:"entries"`
	Absent    []string         `json:"absent_from"`
}

type explainedEntry struct {
	List string `json:"list"`
	Text string `json:"text"`
	File string `json:"file,omitempty"` // none: the profile added it
	Line int    `json:"line,omitempty"`
}

func explainedOf(e policy.Explanation) explained {
	out := explained{
		Allow: e.Decision.Allow, DecisionID: e.Decision.ID, Policy: checkedPolicy{e.Decision.Revision, e.Decision.Profile},
		Rules: []explainedRun{},
	}
	for _, run := range e.Rules {
		r := explainedRun{
			Rule: run.Rule.ID, Title: run.Rule.Title, Level: run.Level, File: run.Rule.File, Line: run.Rule.Line, Tried: run.Entered,
			Sections: run.Sections, Looked: []explainedLookup{}, Findings: []explainedFinding{},
		}
		for _, l := range run.Looked {
			r.Looked = append(r.Looked, explainedLookup(l))
		}
		for _, f := range run.Findings {
			found := explainedFinding{fullViolation: fullOf(f.Violation), CoveredBy: f.Covered, Entries: []explainedEntry{}, Absent: append([]string{}, f.Absent...)}
			for _, entry := range f.Entries {
				found.Entries = append(found.Entries, explainedEntry(entry))
			}
			r.Findings = append(r.Findings, found)
		}
		out.Rules = append(out.Rules, r)
	}
	return out
}
