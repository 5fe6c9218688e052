package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/policy"
)

func (a *app) policyBenchCommand() *cobra.Command {
	w := &workshop{}
	var rounds int
	cmd := &cobra.Command{
		Use: "bench", Short: "Show what each rule costs over the corpus, and the sections that each makes everyone pay for", Args: cobra.NoArgs,
		Long: `Has the corpus parsed and judged, each program --rounds times, and tells for each rule
its share of the time, and for each section of the document its size and whether one
rule alone asks for it: that rule makes every program pay for it. Figures are of this
machine, now.

Exit status: 0 shown; 1 the policy does not load; 2 wrong command line or
configuration.`,
		Example: "  gateway policy bench --policy-dir my-policies --rounds 10",
	}
	cmd.Flags().IntVar(&rounds, "rounds", 3, "judge each program `N` times")
	w.addTo(a, cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if rounds < 1 {
			return misused(fmt.Errorf("--rounds %d: it is at least 1", rounds))
		}
		return w.with(cmd, "", func(ctx context.Context, h *house) error {
			store, err := h.unproved(ctx)
			if err != nil {
				return err
			}
			reports, err := h.benchAll(ctx, store, h.policyFS(), rounds)
			if err != nil {
				return failed(err)
			}
			return w.tell(reports, func(p *painter) error {
				for _, r := range reports {
					p.bench(r)
				}
				return p.err
			})
		})
	}
	return cmd
}

// benchReport is what the rules of one language cost.
type benchReport struct {
	Language    string         `json:"language"`
	Programs    int            `json:"programs"`
	Decisions   int            `json:"decisions"`
	Microsecond float64        `json:"microseconds_a_decision"`
	Rules       []benchRule    `json:"rules"`
	Sections    []benchSection `json:"sections"`
}

type benchRule struct {
	Rule        string   `json:"rule"`
	Shared      bool     `json:"shared"` // no deny rule: several lead to it
	Place       string   `json:"place"`
	Microsecond float64  `json:"microseconds_a_decision"`
	Share       float64  `json:"share_percent"`
	Sections    []string `json:"sections"`       // null: all
	Alone       []string `json:"sections_alone"` // sent because of this rule
}

type benchSection struct {
	Section string   `json:"section"`
	Bytes   int      `json:"bytes_a_program"`
	Rules   []string `json:"rules"` // that can read it
}

func (h *house) benchAll(ctx context.Context, store *policy.Store, folder fs.FS, rounds int) ([]benchReport, error) {
	programs, err := policy.Programs(folder)
	if err != nil {
		return nil, err
	}
	current, err := store.Current()
	if err != nil {
		return nil, err
	}
	var reports []benchReport
	for _, language := range sortedNames(store.Status().Rules) {
		if h.languageOf(language) == "" {
			continue
		}
		meter, err := store.NewMeter(language)
		if err != nil {
			return nil, err
		}
		b := &bench{h: h, current: current, meter: meter, language: language, bytes: map[string]int{}}
		for _, p := range programs {
			if p.Language != language {
				continue
			}
			if err := b.program(ctx, p, rounds); err != nil {
				return nil, fmt.Errorf("%s: %w", p.Name, err)
			}
		}
		reports = append(reports, b.report())
	}
	return reports, nil
}

// bench is the bench of one language.
type bench struct {
	h        *house
	current  gateway.Policy
	meter    *policy.Meter
	language string
	programs int
	bytes    map[string]int // by section
}

func (b *bench) program(ctx context.Context, p policy.Program, rounds int) error {
	sections, err := b.current.Sections(b.language)
	if err != nil {
		return err
	}
	tree, ended, err := b.h.parse(ctx, b.language, p.Code, sections)
	if err != nil || ended != nil {
		return err // what does not parse is judged by nobody
	}
	var doc struct{ AST map[string]json.RawMessage }
	if err := json.Unmarshal(tree.JSON, &doc); err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	for name, text := range doc.AST {
		b.bytes[name] += len(text)
	}
	b.programs++
	profile := b.h.profileFor("")
	if len(p.Profiles) > 0 {
		profile = p.Profiles[0]
	}
	for range rounds {
		err := b.meter.Ask(ctx, gateway.Question{
			Language: b.language, Tool: b.language, Profile: profile, Caller: "bench",
			Source: executor.Source{Language: b.language, Code: p.Code}, Tree: tree,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) report() benchReport {
	asked, plain := b.meter.Asked()
	r := benchReport{Language: b.language, Programs: b.programs, Decisions: asked, Rules: []benchRule{}, Sections: []benchSection{}}
	if asked == 0 {
		return r
	}
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 / float64(asked) }
	r.Microsecond = each(plain)
	readers := map[string][]string{}
	for _, c := range b.meter.Costs() {
		r.Rules = append(r.Rules, benchRule{
			Rule: c.Rule, Shared: c.Shared, Place: fmt.Sprintf("%s:%d", c.File, c.Line), Microsecond: each(c.Time),
			Share: 100 * float64(c.Time) / float64(plain), Sections: c.Sections, Alone: append([]string{}, c.Alone...),
		})
		for _, section := range c.Sections {
			readers[section] = append(readers[section], c.Rule)
		}
	}
	for _, name := range sortedNames(b.bytes) {
		slices.Sort(readers[name])
		r.Sections = append(r.Sections, benchSection{name, b.bytes[name] / b.programs, append([]string{}, readers[name]...)})
	}
	slices.SortStableFunc(r.Sections, func(a, b benchSection) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return r
}

// leastShown is the share, in percent, below which what several rules share is
// not told by itself.
const leastShown = 1

func (p *painter) bench(r benchReport) {
	p.printf("%s: %s, %s, %.0f µs each\n", r.Language, plural(r.Programs, "program"), plural(r.Decisions, "decision"), r.Microsecond)
	p.printf("  %8s %7s  %-24s %s\n", "µs", "share", "rule", "sections that it alone asks for")
	rest := 0.0
	for _, rule := range r.Rules {
		if rule.Shared && rule.Share < leastShown {
			rest += rule.Microsecond
			continue
		}
		name := rule.Rule
		if rule.Shared {
			name = "(shared) " + strings.TrimPrefix(name, "data.")
		}
		p.printf("  %8.1f %6.1f%%  %-24s %s\n", rule.Microsecond, rule.Share, name, strings.Join(rule.Alone, ", "))
	}
	p.printf("  %8.1f          what several rules share, each below %d %%\n", rest, leastShown)
	p.printf("  %8s  %-14s %s\n", "bytes", "section", "read by")
	for _, s := range r.Sections {
		who := plural(len(s.Rules), "rule")
		if len(s.Rules) == 1 {
			who = s.Rules[0] + " alone: every program pays for it"
		}
		p.printf("  %8d  %-14s %s\n", s.Bytes, s.Section, who)
	}
}
