package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sluice-gateway/sluice/internal/regofile"
)

// Rule is what a rule's METADATA says of it.
type Rule struct {
	ID          string            `json:"id"` // custom.id, as in a violation
	Title       string            `json:"title"`
	Description string            `json:"description,omitzero"`
	Hint        string            `json:"hint,omitzero"`   // custom.hint: what to write instead
	Hints       map[string]string `json:"hints,omitempty"` // custom.hints: the same for one subject
	Covers      []string          `json:"-"`               // custom.covers: rules whose findings at the same place say less
	URL         string            `json:"url,omitzero"`    // custom.url
	File        string            `json:"file"`            // where it is defined
	Line        int               `json:"line"`
}

// UnwrittenHint is the hint of a rule that was begun and not written: it is the
// mark by which a folder with such a rule is not put in force.
const UnwrittenHint = "Say here what to write instead: whoever wrote the program reads it before the next try."

// written refuses rules that were begun and not written.
func (b *builder) written() error {
	var faults []error
	for _, id := range sortedKeys(b.revision.languages) {
		rules := b.revision.languages[id].rules
		for _, name := range sortedKeys(rules) {
			if rule := rules[name]; rule.Hint == UnwrittenHint {
				faults = append(faults, fmt.Errorf("%s:%d: rule %q still has the hint that it was begun with", rule.File, rule.Line, rule.ID))
			}
		}
	}
	return errors.Join(faults...)
}

// findingKeys are the members of an element of deny, all of them, so that the
// entry point drops no finding for want of one.
func findingKeys() []string { return []string{"at", "msg", "rule", "subject"} }

// collectRules reads the METADATA of every deny rule and proves that each is
// written as the contract says: a set of objects that stand in the head, with
// a literal id that the METADATA names. The entry point reads nothing else of
// a rule package but its grants.
func collectRules(modules map[string]*ast.Module) (map[string]Rule, error) {
	rules := map[string]Rule{}
	literals := map[string]*ast.Location{}
	var faults []error
	for _, file := range sortedKeys(modules) {
		if path := regofile.Path(modules[file]); path[0] == entryPackage {
			continue
		}
		for _, rule := range modules[file].Rules {
			if rule.Head.Name != denyRule && !rule.Head.Ref().HasPrefix(ast.Ref{ast.VarTerm(denyRule)}) {
				faults = append(faults, strayMetadata(rule))
				continue
			}
			id, err := findingID(rule)
			if err != nil {
				faults = append(faults, err)
				continue
			}
			literals[id] = rule.Location
			faults = append(faults, addRule(rules, rule, id))
		}
	}
	for _, id := range sortedKeys(literals) {
		if _, ok := rules[id]; !ok {
			faults = append(faults, located(literals[id], "rule %q has no METADATA with custom: {id: %s}", id, id))
		}
	}
	for _, id := range sortedKeys(rules) {
		for _, covered := range rules[id].Covers {
			if _, ok := rules[covered]; !ok {
				faults = append(faults, located(literals[id], "rule %q covers %q, which is no rule", id, covered))
			}
		}
	}
	return rules, errors.Join(faults...)
}

// strayMetadata tells of a rule that has an id and is not a deny rule.
func strayMetadata(rule *ast.Rule) error {
	for _, a := range rule.Annotations {
		if id, ok := a.Custom["id"]; ok {
			return located(rule.Location, "rule %q is defined as %s and not as deny: it would never run", id, rule.Head.Ref())
		}
	}
	return nil
}

// findingID returns the literal id of a deny rule's head.
func findingID(rule *ast.Rule) (string, error) {
	wrong := func(why string) error {
		return located(rule.Location, `a deny rule is written deny contains {"rule": "id", "msg": …, "at": …, "subject": …} if …: %s`, why)
	}
	if rule.Head.Key == nil || rule.Head.RuleKind() != ast.MultiValue {
		return "", wrong("this is no set")
	}
	object, ok := rule.Head.Key.Value.(ast.Object)
	if !ok {
		return "", wrong("the object must stand in the head")
	}
	var keys []string
	for _, key := range object.Keys() {
		if text, ok := key.Value.(ast.String); ok {
			keys = append(keys, string(text))
		}
	}
	slices.Sort(keys)
	if !slices.Equal(keys, findingKeys()) {
		return "", wrong(fmt.Sprintf("it has the keys %q", keys))
	}
	id, ok := object.Get(ast.StringTerm("rule")).Value.(ast.String)
	if !ok || id == "" {
		return "", wrong("its id must be literal text")
	}
	return string(id), nil
}

// addRule adds the METADATA of one deny rule, if it has some.
func addRule(rules map[string]Rule, rule *ast.Rule, id string) error {
	for _, a := range rule.Annotations {
		custom := textOf(a.Custom["id"])
		if custom == "" {
			continue
		}
		if custom != id {
			return located(rule.Location, "rule %q has METADATA of rule %q", id, custom)
		}
		if err := shortTexts(rule.Location, id, a); err != nil {
			return err
		}
		rules[id] = Rule{
			ID: id, Title: a.Title, Description: a.Description, Hint: textOf(a.Custom["hint"]), URL: textOf(a.Custom["url"]),
			Hints: textsOf(a.Custom["hints"]), Covers: listOf(a.Custom["covers"]),
			File: rule.Location.File, Line: rule.Location.Row,
		}
	}
	return nil
}

// maxRuleText bounds what METADATA says of a rule, each text of it, in bytes:
// every answer that the rule is in repeats it.
const maxRuleText = 2000

func shortTexts(at *ast.Location, id string, a *ast.Annotations) error {
	texts := []string{a.Title, textOf(a.Custom["hint"]), textOf(a.Custom["url"])}
	for _, text := range textsOf(a.Custom["hints"]) {
		texts = append(texts, text)
	}
	for _, text := range texts {
		if len(text) > maxRuleText {
			return located(at, "rule %q has METADATA with a text of %d bytes: a title, a hint or a url has at most %d", id, len(text), maxRuleText)
		}
	}
	return nil
}

// hintFor is what to write instead of a subject.
func (r Rule) hintFor(subject string) string {
	if hint, ok := r.Hints[subject]; ok {
		return hint
	}
	return r.Hint
}

func textsOf(v any) map[string]string {
	object, _ := v.(map[string]any)
	texts := make(map[string]string, len(object))
	for key, value := range object {
		texts[key] = textOf(value)
	}
	return texts
}

func listOf(v any) []string {
	list, _ := v.([]any)
	texts := make([]string, 0, len(list))
	for _, value := range list {
		texts = append(texts, textOf(value))
	}
	return texts
}

func textOf(v any) string {
	text, _ := v.(string)
	return text
}
