package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"
)

// reading is what one deny rule can read: its own definitions and all that they
// lead to. It is worked out from the compiled modules; nothing is evaluated.
type reading struct {
	rule     Rule
	defs     []*ast.Rule // the definitions of the rule itself
	reached  map[*ast.Rule]bool
	sections []string // members of input.ast, sorted; nil: any
}

// readings finds what each deny rule of a language reads, by id.
func (c *compiled) readings(rules map[string]Rule) map[string]*reading {
	ids := c.ids()
	found := map[string]*reading{}
	for _, file := range sortedKeys(c.compiler.Modules) {
		for _, rule := range c.compiler.Modules[file].Rules {
			id := ids[placeOf(rule)]
			about, ok := rules[id]
			if !ok {
				continue
			}
			r := found[id]
			if r == nil {
				r = &reading{rule: about, reached: map[*ast.Rule]bool{}}
				found[id] = r
			}
			r.defs = append(r.defs, rule)
			c.reach(rule, r.reached)
		}
	}
	for _, r := range found {
		r.sections = sectionsOf(r.reached)
	}
	return found
}

// ids are the ids of the deny rules, by where they stand: the compiler takes a
// head apart that holds more than literals.
func (c *compiled) ids() map[string]string {
	ids := map[string]string{}
	for _, module := range c.modules {
		for _, rule := range module.Rules {
			if rule.Head.Key == nil {
				continue
			}
			object, ok := rule.Head.Key.Value.(ast.Object)
			if !ok {
				continue
			}
			if id := object.Get(ast.StringTerm("rule")); id != nil {
				text, _ := id.Value.(ast.String)
				ids[placeOf(rule)] = string(text)
			}
		}
	}
	return ids
}

func placeOf(rule *ast.Rule) string {
	return fmt.Sprintf("%s:%d:%d", rule.Location.File, rule.Location.Row, rule.Location.Col)
}

func sectionsOf(rules map[*ast.Rule]bool) []string {
	found, all := []string{}, false
	for rule := range rules {
		ast.WalkRefs(rule, func(ref ast.Ref) bool {
			name, whole, ok := sectionOf(ref)
			if all = all || whole; ok && !slices.Contains(found, name) {
				found = append(found, name)
			}
			return false
		})
	}
	if all {
		return nil
	}
	slices.Sort(found)
	return found
}

// reach adds to reached all rules that from depends on, itself among them.
func (c *compiled) reach(from *ast.Rule, reached map[*ast.Rule]bool) {
	work := []util.T{from}
	for len(work) > 0 {
		rule, ok := work[len(work)-1].(*ast.Rule)
		work = work[:len(work)-1]
		if !ok || reached[rule] {
			continue
		}
		reached[rule] = true
		for next := range c.compiler.Graph.Dependencies(rule) {
			work = append(work, next)
		}
	}
}

// decisionPlace is where the entry point is defined.
func (c *compiled) decisionPlace() *ast.Location {
	return c.compiler.GetRulesExact(decisionRef())[0].Location
}

// entry is a text in a list of a policy, and where it stands.
type entry struct {
	list string
	text string
	at   *ast.Location
}

// lists are the sets of literal texts that a reading leads to, by name.
func (r *reading) lists() map[string][]entry {
	lists := map[string][]entry{}
	for rule := range r.reached {
		if rule.Head.Value == nil || len(rule.Head.Args) > 0 {
			continue
		}
		name := string(rule.Head.Name)
		for _, term := range literals(rule.Head.Value) {
			text, ok := term.Value.(ast.String)
			if !ok {
				continue
			}
			at := term.Location
			if at == nil {
				at = rule.Location
			}
			lists[name] = append(lists[name], entry{name, string(text), at})
		}
	}
	return lists
}

// literals are the elements of a set and the keys of an object.
func literals(term *ast.Term) []*ast.Term {
	switch v := term.Value.(type) {
	case ast.Set:
		return v.Slice()
	case ast.Object:
		return v.Keys()
	}
	return nil
}

// matching finds the entries that speak for a subject: the same text, else the
// longest dotted beginning of it in each list (a module, for a name within it).
func (r *reading) matching(subject string) []entry {
	var found []entry
	exact := false
	for _, entries := range r.lists() {
		best := entry{}
		for _, e := range entries {
			if (e.text == subject || strings.HasPrefix(subject, e.text+".")) && len(e.text) > len(best.text) {
				best = e
			}
		}
		if best.list != "" {
			found = append(found, best)
			exact = exact || best.text == subject
		}
	}
	found = slices.DeleteFunc(found, func(e entry) bool { return exact && e.text != subject })
	slices.SortFunc(found, func(a, b entry) int {
		return strings.Compare(a.list, b.list)
	})
	return found
}
