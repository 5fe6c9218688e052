package workbench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-gateway/sluice/internal/policy"
)

// Reference is the Markdown page of all rules of a policy, from their METADATA:
// by language and id, whatever the order of the files.
func Reference(rules map[string][]policy.Rule) string {
	var out strings.Builder
	out.WriteString("# Rules\n\nMade from the rules' METADATA by `gateway policy docs`; edit it there. A rule's id is what answers,\n" +
		"profiles and waivers name. How to write one: [writing-policies.md](writing-policies.md).\n")
	for _, language := range sortedKeys(rules) {
		fmt.Fprintf(&out, "\n## %s\n\n| rule | finds |\n|---|---|\n", language)
		sorted := slices.SortedFunc(slices.Values(rules[language]), func(a, b policy.Rule) int { return strings.Compare(a.ID, b.ID) })
		for _, r := range sorted {
			fmt.Fprintf(&out, "| [%s](#%s) | %s |\n", r.ID, r.ID, cell(r.Title))
		}
		for _, r := range sorted {
			writeRule(&out, r)
		}
	}
	return out.String()
}

func writeRule(out *strings.Builder, r policy.Rule) {
	fmt.Fprintf(out, "\n### %s\n", r.ID)
	fmt.Fprintf(out, "%s.", strings.TrimSuffix(r.Title, "."))
	if r.Description != "" {
		fmt.Fprintf(out, " %s", strings.TrimSpace(r.Description))
	}
	fmt.Fprintf(out, " In `%s`.\n", r.File)
	if r.Hint != "" {
		fmt.Fprintf(out, "\nInstead: %s\n", r.Hint)
	}
	if len(r.Hints) > 0 {
		out.WriteString("\n| for | write instead |\n|---|---|\n")
		for _, subject := range sortedKeys(r.Hints) {
			fmt.Fprintf(out, "| `%s` | %s |\n", cell(subject), cell(r.Hints[subject]))
		}
	}
	if len(r.Covers) > 0 {
		fmt.Fprintf(out, "\nAt one place it speaks for: %s.\n", strings.Join(r.Covers, ", "))
	}
}

// cell is a text fit for a table.
func cell(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "|", `\|`)), " ")
}
