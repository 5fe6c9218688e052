package policy

import (
	"slices"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// uncovered leaves out what another finding at the same place says better: a
// rule's METADATA names the rules that it covers. A warning covers no error.
// The corpus sees all findings, so that each rule is proved by itself.
func uncovered(violations []gateway.Violation, rules map[string]Rule) []gateway.Violation {
	covered := func(v gateway.Violation) bool {
		return slices.ContainsFunc(violations, func(by gateway.Violation) bool {
			return samePlace(v, by) && slices.Contains(rules[by.Rule].Covers, v.Rule) && (isError(by) || !isError(v))
		})
	}
	if !slices.ContainsFunc(violations, covered) {
		return violations
	}
	var kept []gateway.Violation
	for _, v := range violations {
		if !covered(v) {
			kept = append(kept, v)
		}
	}
	return kept
}

func samePlace(a, b gateway.Violation) bool {
	return a.Line == b.Line && a.Column == b.Column && a.EndLine == b.EndLine && a.EndColumn == b.EndColumn
}
