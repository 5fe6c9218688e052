package policy

import (
	"errors"

	"github.com/open-policy-agent/opa/v1/ast"
)

// unreachable tells every rule that the decision does not depend on: a deny set
// that is misspelt, or a list that no rule reads. Such a rule is switched on
// in its author's eyes and does nothing.
func (c *compiled) unreachable() error {
	reached := map[*ast.Rule]bool{}
	for _, rule := range c.compiler.GetRulesExact(decisionRef()) {
		c.reach(rule, reached)
	}
	var faults []error
	for _, file := range sortedKeys(c.compiler.Modules) {
		for _, rule := range c.compiler.Modules[file].Rules {
			if !reached[rule] {
				faults = append(faults, located(rule.Location, "%s is defined and the decision never reads it", rule.Ref()))
			}
		}
	}
	return errors.Join(faults...)
}
