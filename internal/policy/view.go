package policy

import (
	"context"
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// importableRule is the rule of a language's package that says what programs may
// import under input.profile; a package need not have it.
const importableRule = "importable"

var (
	_ gateway.Shower   = (*revision)(nil)
	_ gateway.Shadower = (*revision)(nil)
)

// Shadow implements gateway.Shadower.
func (r *revision) Shadow(profile string) (name string, share float64) {
	if r.admitsAll {
		return "", 0
	}
	shadow := r.profiles.set.Written[profile].Shadow
	if shadow == nil {
		return "", 0
	}
	return shadow.Profile, shadow.Of()
}

// prepareImportable makes the query for importableRule; nil: there is none.
func (c *compiled) prepareImportable(ctx context.Context, language string, store storage.Store) (*rego.PreparedEvalQuery, error) {
	ref := ast.DefaultRootRef.Append(ast.StringTerm(rulesPackage)).Append(ast.StringTerm(language)).Append(ast.StringTerm(importableRule))
	if len(c.compiler.GetRulesExact(ref)) == 0 {
		return nil, nil
	}
	return prepareRef(ctx, c, ref, store)
}

// Show implements gateway.Shower.
func (r *revision) Show(ctx context.Context, name string) (gateway.ProfileView, error) {
	name, err := r.profile(name)
	if err != nil {
		return gateway.ProfileView{}, err
	}
	p := r.profiles.set.Whole[name]
	view := gateway.ProfileView{Name: name, Description: p.Description, Limits: p.Limits}
	for _, id := range sortedKeys(r.languages) {
		l := r.languages[id]
		shown := gateway.LanguageView{ID: id, Rules: []gateway.RuleView{}}
		for _, rule := range sortedKeys(l.rules) {
			level := levelError
			if set, ok := p.Rules[rule]; ok {
				level = set
			}
			if level != levelOff {
				shown.Rules = append(shown.Rules, gateway.RuleView{ID: rule, Title: l.rules[rule].Title, Level: level, Hint: l.rules[rule].Hint})
			}
		}
		if shown.Modules, err = r.importable(ctx, l, id, name); err != nil {
			return gateway.ProfileView{}, err
		}
		view.Languages = append(view.Languages, shown)
	}
	return view, nil
}

// importable lists the modules that programs may import; nil: the policy does
// not say.
func (r *revision) importable(ctx context.Context, l *language, id, profile string) ([]string, error) {
	if l.importable == nil {
		return nil, nil
	}
	ctx, stop := context.WithTimeout(ctx, r.host.deadline)
	defer stop()
	results, err := l.importable.Eval(ctx, rego.EvalInput(map[string]any{"language": id, "profile": profile, "ast": map[string]any{}}))
	if err != nil {
		return nil, fmt.Errorf("%w: %s of %s: %w", gateway.ErrPolicyFault, importableRule, id, err)
	}
	modules := []string{}
	for _, result := range results {
		list, _ := result.Expressions[0].Value.([]any)
		for _, module := range list {
			if text, ok := module.(string); ok {
				modules = append(modules, text)
			}
		}
	}
	slices.Sort(modules)
	return modules, nil
}
