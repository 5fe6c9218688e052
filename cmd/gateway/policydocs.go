package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/policy"
	"github.com/sluice-gateway/sluice/internal/policy/workbench"
)

func (a *app) policyDocsCommand() *cobra.Command {
	w := &workshop{}
	cmd := &cobra.Command{
		Use: "docs", Short: "Print the reference of all rules, from their METADATA", Args: cobra.NoArgs,
		Long: `Prints a page of all rules in Markdown (or as JSON): what each finds, what to write
instead, for which others it speaks. No plugin is started.

Exit status: 0 printed; 1 the policy does not load; 2 wrong command line or
configuration.`,
		Example: "  gateway policy docs >docs/rules.md",
	}
	w.addTo(a, cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		name, folder, err := w.folder()
		if err != nil {
			return err
		}
		store, err := policy.Load(cmd.Context(), policy.Config{FS: folder, SkipCorpus: true})
		if err != nil {
			return loadsNot(name, err)
		}
		rules := store.Status().Rules
		return w.tell(referenceOf(rules), func(p *painter) error {
			p.printf("%s", workbench.Reference(rules))
			return p.err
		})
	}
	return cmd
}

// ruleJSON is a rule's METADATA for machines.
type ruleJSON struct {
	ID          string            `json:"id"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Hint        string            `json:"hint"`
	Hints       map[string]string `json:"hints,omitempty"`
	Covers      []string          `json:"covers,omitempty"`
	URL         string            `json:"url"`
	File        string            `json:"file"`
	Line        int               `json:"line"`
}

func referenceOf(rules map[string][]policy.Rule) map[string][]ruleJSON {
	out := map[string][]ruleJSON{}
	for language, list := range rules {
		out[language] = []ruleJSON{}
		for _, r := range list {
			out[language] = append(out[language], ruleJSON{
				ID: r.ID, Title: r.Title, Description: r.Description, Hint: r.Hint, Hints: r.Hints, Covers: r.Covers, URL: r.URL, File: r.File, Line: r.Line,
			})
		}
	}
	return out
}
