package policy

import "github.com/open-policy-agent/opa/v1/ast"

// inline puts the value of each constant rule (a list of the policy, say) where
// the compiled modules unify something with a reference to it. Evaluated as a
// rule, a constant costs as much as any other rule, in every decision. What is
// unified stays the same, and what depends on what was worked out before.
//
// A reference into a constant (list[x]) stays: a reference that begins with a
// value is undefined, without a sound. So do all where a module replaces data
// by with.
func (c *compiled) inline() {
	if c.replacesData() {
		return
	}
	constants := c.constants()
	for _, module := range c.compiler.Modules {
		ast.WalkExprs(module, func(expr *ast.Expr) bool {
			if terms, ok := expr.Terms.([]*ast.Term); ok && expr.IsEquality() {
				for i := range terms[1:] {
					inlineTerm(&terms[1+i], constants)
				}
			}
			return false
		})
	}
}

func inlineTerm(term **ast.Term, constants map[string]*ast.Term) {
	if ref, ok := (*term).Value.(ast.Ref); ok && ref.IsGround() {
		if value := constants[ref.String()]; value != nil {
			*term = value
		}
	}
}

// replacesData says whether any expression is evaluated with another value for
// a part of data.
func (c *compiled) replacesData() bool {
	found := false
	for _, module := range c.compiler.Modules {
		ast.WalkWiths(module, func(with *ast.With) bool {
			ref, ok := with.Target.Value.(ast.Ref)
			found = found || !ok || !ref.HasPrefix(ast.InputRootRef)
			return found
		})
	}
	return found
}

// constants are the values of the rules with one definition that asks nothing,
// by their reference.
func (c *compiled) constants() map[string]*ast.Term {
	found := map[string]*ast.Term{}
	for _, module := range c.compiler.Modules {
		for _, rule := range module.Rules {
			ref := rule.Ref()
			if isConstant(rule) && len(c.compiler.GetRulesWithPrefix(ref)) == 1 {
				found[ref.String()] = rule.Head.Value
			}
		}
	}
	return found
}

func isConstant(rule *ast.Rule) bool {
	return rule.Head.RuleKind() == ast.SingleValue && len(rule.Head.Args) == 0 && rule.Else == nil && !rule.Default &&
		rule.Ref().IsGround() && rule.Head.Value != nil && ast.IsConstant(rule.Head.Value.Value) && isTrue(rule.Body)
}

func isTrue(body ast.Body) bool {
	return body.Equal(ast.NewBody(ast.NewExpr(ast.BooleanTerm(true))))
}
