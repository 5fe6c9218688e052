package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/policy"
)

func (a *app) policyCheckCommand() *cobra.Command {
	w := &workshop{}
	cmd := &cobra.Command{
		Use: "check", Short: "Say whether a policy folder would be put in force", Args: cobra.NoArgs,
		Long: `Does all that stands between a folder and its being in force, as serve does:
compiles it for each language, strict and with its schema, looks for rules that
nothing asks, checks the profiles, and has the plugins parse the corpus and the
rules judge it. All faults are told, each with its place and what to do.

Exit status: 0 it would be put in force; 1 it would not; 2 wrong command line or
configuration.`,
		Example: "  gateway policy check\n  gateway policy check --policy-dir my-policies --output json",
	}
	w.addTo(a, cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		name, folder, err := w.folder()
		if err != nil {
			return err
		}
		// What is at fault without any plugin is told before one is started.
		if _, err := policy.Load(cmd.Context(), policy.Config{FS: folder, SkipCorpus: true}); err != nil && !needsPlugin(err) {
			return w.tellCheck(checkReport{Folder: name, Faults: faultsOf(err)})
		}
		return w.with(cmd, "", func(ctx context.Context, h *house) error {
			begin := time.Now()
			store, err := h.loadFolder(ctx, folder, true)
			if ctx.Err() != nil {
				return err
			}
			report := checkReport{Folder: name, Faults: faultsOf(err), took: time.Since(begin)}
			if err == nil {
				report.about(store.Status())
			}
			return w.tellCheck(report)
		})
	}
	return cmd
}

// needsPlugin says that a plugin may bring what is missing: a language that no
// schema in the folder describes.
func needsPlugin(err error) bool { return strings.Contains(err.Error(), "which no plugin") }

func (w *workshop) tellCheck(report checkReport) error {
	err := w.tell(report, report.text)
	if err == nil && !report.Good {
		err = &exitError{status: exitFailed}
	}
	return err
}

// faultsOf are the single faults of a load.
func faultsOf(err error) []policy.Fault {
	whole := new(policy.LoadError)
	switch {
	case err == nil:
		return []policy.Fault{}
	case errors.As(err, &whole):
		return whole.Faults
	}
	return []policy.Fault{{Message: err.Error()}}
}

// checkReport is what policy check says of a folder.
type checkReport struct {
	Folder    string              `json:"folder"`
	Good      bool                `json:"good"`
	Revision  string              `json:"revision,omitempty"`
	Digest    string              `json:"digest,omitempty"`
	AdmitsAll bool                `json:"admits_all"`
	Profiles  []string            `json:"profiles,omitempty"`
	Rules     map[string]int      `json:"rules,omitempty"`
	Sections  map[string][]string `json:"sections,omitempty"` // null: all
	Corpus    int                 `json:"corpus"`
	Warnings  []string            `json:"warnings,omitempty"`
	Faults    []policy.Fault      `json:"faults"`

	took time.Duration
}

func (r *checkReport) about(st policy.Status) {
	r.Good, r.Revision, r.Digest, r.AdmitsAll = true, st.Revision, st.Digest, st.AdmitsAll
	r.Profiles, r.Sections, r.Corpus, r.Warnings = st.Profiles, st.Sections, st.Corpus, st.Warnings
	r.Rules = map[string]int{}
	for language, rules := range st.Rules {
		r.Rules[language] = len(rules)
	}
}

func (r *checkReport) text(p *painter) error {
	if !r.Good {
		for _, f := range r.Faults {
			p.fault(f)
		}
		p.printf("%s: %s, %s; it would not be put in force\n", r.Folder, p.paint(red, "refused"), plural(len(r.Faults), "fault"))
		return p.err
	}
	for _, language := range sortedNames(r.Rules) {
		p.printf("  %-9s %s, reading %s\n", language, plural(r.Rules[language], "rule"), sectionsText(r.Sections[language]))
	}
	if r.AdmitsAll {
		p.printf("  IT ADMITS EVERY PROGRAM\n")
	}
	p.printf("  profiles  %s\n", strings.Join(r.Profiles, ", "))
	p.printf("  corpus    %s judged as their first lines say\n", plural(r.Corpus, "program"))
	for _, warning := range r.Warnings {
		p.printf("  warning   %s\n", warning)
	}
	p.printf("%s: good, revision %s (%.1f s)\n", r.Folder, r.Revision, r.took.Seconds())
	return p.err
}

// fault is one fault, with its place first and what to do below.
func (p *painter) fault(f policy.Fault) {
	if place := f.Place(); place != "" {
		p.printf("%s: ", p.paint(bold, place))
	}
	p.printf("%s: %s\n", p.paint(red, "error"), f.Message)
	if f.Remedy != "" {
		p.printf("  remedy: %s\n", f.Remedy)
	}
}

// wholeTree is the section that everyone pays for most.
const wholeTree = "tree"

func sectionsText(sections []string) string {
	text := strings.Join(sections, ", ")
	for _, name := range sections {
		if name == wholeTree {
			text += " (the whole tree: every program pays for it; gateway policy bench tells which rule asks)"
		}
	}
	if sections == nil {
		text = "all sections, the whole tree among them: a rule names input.ast without a section, or with a computed one"
	}
	return text
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
