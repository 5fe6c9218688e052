package policy

import (
	"context"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
)

// inlined compiles a module whose rule decision is asked, before and after.
func inlined(t *testing.T, text string) (before, after string, changed int) {
	t.Helper()
	module := ast.MustParseModuleWithOpts(text, ast.ParserOptions{RegoVersion: ast.RegoV1})
	c, err := compile(map[string]*ast.Module{"m.rego": module}, nil, capabilities())
	if err != nil {
		t.Fatal(err)
	}
	ask := func() string {
		input := ast.MustParseTerm(`{"names": {"eval": 1, "x": 2}, "word": "exec"}`)
		results, err := rego.New(rego.Query("data.m.decision"), rego.Compiler(c.compiler), rego.ParsedInput(input.Value)).Eval(context.Background())
		if err != nil || len(results) != 1 {
			t.Fatalf("%v, %v", results, err)
		}
		value, err := ast.InterfaceToValue(results[0].Expressions[0].Value)
		if err != nil {
			t.Fatal(err)
		}
		return value.String()
	}
	count := func() int { return strings.Count(c.compiler.Modules["m.rego"].String(), "data.m.") }
	refs := count()
	before = ask()
	c.inline()
	return before, ask(), refs - count()
}

func TestInlineChangesNoAnswer(t *testing.T) {
	const list = "package m\n\nlist := {\"eval\", \"exec\"}\n\n"
	for name, test := range map[string]struct {
		text    string
		changed int
	}{
		"met with a set":         {list + "decision := object.keys(input.names) & list\n", 1},
		"asked for a member":     {list + "decision if input.word in list\n", 1},
		"not a member":           {list + "decision if not \"fork\" in list\n", 1},
		"enumerated":             {list + "decision := [x | some x in list; input.names[x]]\n", 0},
		"in a comprehension":     {list + "decision := {x | some x in (list & object.keys(input.names))}\n", 1},
		"compared":               {list + "decision if list == {\"exec\", \"eval\"}\n", 1},
		"an object":              {"package m\n\nbound := {\"a\": {\"most\": 3}}\n\ndecision := object.get(bound, [\"a\", \"most\"], 0)\n", 1},
		"within an object":       {"package m\n\nbound := {\"a\": {\"most\": 3}}\n\ndecision := bound.a.most\n", 0},
		"one that asks":          {"package m\n\nlist := {\"eval\"} if input.word == \"exec\"\n\ndecision := object.keys(input.names) & list\n", 0},
		"one with a default":     {"package m\n\ndefault list := {\"x\"}\n\nlist := {\"eval\"} if input.word == \"exec\"\n\ndecision := object.keys(input.names) & list\n", 0},
		"a partial one":          {"package m\n\nlist contains \"eval\"\n\nlist contains \"x\"\n\ndecision := object.keys(input.names) & list\n", 0},
		"replaced by with":       {list + "found := object.keys(input.names) & list\n\ndecision := [found, other] if other := found with data.m.list as {\"x\"}\n", 0},
		"another input by with":  {list + "found := object.keys(input.names) & list\n\ndecision := other if other := found with input.names as {\"exec\": 1}\n", 1},
		"two that mean the same": {"package m\n\nlist := {\"eval\"}\n\nlist := {\"eval\"}\n\ndecision := object.keys(input.names) & list\n", 0},
	} {
		before, after, changed := inlined(t, test.text)
		if before != after || changed != test.changed {
			t.Errorf("%s: %d references are gone, want %d; the answer was %s and is %s", name, changed, test.changed, before, after)
		}
	}
}
