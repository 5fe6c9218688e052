package policy

import (
	"errors"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sluice-gateway/sluice/internal/regofile"
)

// unreachable tells every rule that the decision does not depend on: a deny set
// that is misspelt, or a list that no rule reads. Such a rule is switched on
// in its author's eyes and does nothing. What is read for GET /v1/policy alone
// decides nothing and is passed over; a list that it alone reads is not.
func (c *compiled) unreachable() error {
	reached := map[*ast.Rule]bool{}
	for _, rule := range c.compiler.GetRulesExact(decisionRef()) {
		c.reach(rule, reached)
	}
	var faults []error
	for _, file := range sortedKeys(c.compiler.Modules) {
		module := c.compiler.Modules[file]
		for _, rule := range module.Rules {
			told := rule.Head.Name == importableRule && regofile.Path(module)[0] == rulesPackage
			if !reached[rule] && !told {
				faults = append(faults, located(rule.Location, "%s is defined and the decision never reads it", rule.Ref()))
			}
		}
	}
	return errors.Join(faults...)
}
