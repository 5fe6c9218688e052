package upstream

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/sluice-gateway/sluice/internal/regofile"
)

// listRules names the rules of package rules.python whose value does not depend
// on the program: the lists and the bounds.
func (p *policy) listRules() []string {
	rules := map[string][]*ast.Rule{}
	for _, module := range p.compiler.Modules {
		if !slices.Equal(regofile.Path(module), []string{"rules", language}) {
			continue
		}
		for _, rule := range module.Rules {
			name := rule.Head.Name.String()
			rules[name] = append(rules[name], rule)
		}
	}
	open := map[string]bool{} // depends on the program, or is a function
	for changed := true; changed; {
		changed = false
		for name, all := range rules {
			if !open[name] && slices.ContainsFunc(all, func(r *ast.Rule) bool { return dependent(r, open) }) {
				open[name], changed = true, true
			}
		}
	}
	var names []string
	for name := range rules {
		if !open[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func dependent(rule *ast.Rule, open map[string]bool) bool {
	if len(rule.Head.Args) > 0 {
		return true
	}
	found := false
	ast.WalkRefs(rule, func(ref ast.Ref) bool {
		if ref[0].Equal(ast.InputRootDocument) {
			found = true
		}
		if len(ref) > 3 && ref[0].Equal(ast.DefaultRootDocument) && ref[1].Equal(ast.StringTerm("rules")) {
			name, _ := ref[3].Value.(ast.String)
			found = found || open[string(name)]
		}
		return found
	})
	return found
}

// listsQuery asks for every list as it stands in the profile input.profile: a
// list without a profile when that is "".
func listsQuery(names []string) string {
	var parts []string
	for _, name := range names {
		parts = append(parts, fmt.Sprintf("%q: data.rules.%s.%s", name, language, name))
	}
	return `changes := object.get(data.profiles, [input.profile, "lists"], {})
		base := {` + strings.Join(parts, ", ") + `}
		scalars := {name: whole | some name, whole in base; not is_set(whole)}
		sets := {name: value |
			some name, whole in base
			is_set(whole)
			removed := {e | some e in object.get(changes, [name, "remove"], [])}
			added := {e | some e in object.get(changes, [name, "add"], [])}
			value := (whole - removed) | added
		}
		lists := object.union(scalars, sets)`
}

// listsOf evaluates the lists as profile has them ("": as they are written).
// Sets come as sorted lists.
func (p *policy) listsOf(ctx context.Context, profile string) (map[string]any, error) {
	results, err := p.lists.Eval(ctx, rego.EvalInput(map[string]any{"profile": profile}))
	if err != nil {
		return nil, fmt.Errorf("evaluate the lists: %w", err)
	}
	if len(results) == 0 {
		return nil, errors.New("evaluate the lists: they have no value")
	}
	lists, ok := results[0].Bindings["lists"].(map[string]any)
	if !ok {
		return nil, errors.New("evaluate the lists: they are no object")
	}
	for _, value := range lists {
		if entries, ok := value.([]any); ok {
			slices.SortFunc(entries, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	}
	return lists, nil
}

// digests are what a review records: of the lists as they are written, and of
// what each profile makes of them, its levels, waivers and grants with them.
func (p *policy) digests(ctx context.Context) (lists, profiles string, err error) {
	base, err := p.listsOf(ctx, "")
	if err != nil {
		return "", "", err
	}
	all := map[string]any{}
	for name, value := range p.profiles {
		in, err := p.listsOf(ctx, name)
		if err != nil {
			return "", "", err
		}
		profile := value.(map[string]any)
		all[name] = map[string]any{"lists": in, "rules": profile["rules"], "waivers": profile["waivers"], "grants": profile["grants"]}
	}
	return digest(base), digest(all), nil
}

// digest is the SHA-256 of a value's JSON, keys sorted.
func digest(value any) string {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return ""
	}
	sum := sha256.Sum256(text.Bytes())
	return hex.EncodeToString(sum[:])
}

// jsonable turns what YAML read into what JSON has.
func jsonable(value map[string]any) (map[string]any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, json.Unmarshal(text, &out)
}

// texts are the entries of the lists that are sets of texts, and what grants
// name, each once, sorted.
func (p *policy) texts(lists map[string]any, profile string) []string {
	all := map[string]bool{}
	take := func(value any) {
		entries, _ := value.([]any)
		for _, e := range entries {
			if text, ok := e.(string); ok {
				all[text] = true
			}
		}
	}
	for _, value := range lists {
		take(value)
	}
	fields, _ := p.profiles[profile].(map[string]any)
	grants, _ := fields["grants"].([]any)
	for _, g := range grants {
		if module, ok := strings.CutPrefix(fmt.Sprint(g), "import:"); ok {
			all[module] = true
		}
	}
	return sorted(all)
}
