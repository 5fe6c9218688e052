package upstream

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sluice-gateway/sluice/policies"
)

// What the policy is asked about has the form of what the executor sends: a
// rule that reads a section would else find nothing, and seem looser.
func TestProbesFollowTheSchema(t *testing.T) {
	text, err := fs.ReadFile(policies.FS(), "schemas/pyast-1.json")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("pyast", raw); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("pyast")
	if err != nil {
		t.Fatal(err)
	}
	s := &stance{asked: append(append(canaries(), canaryPrivate()...), "numpy.linalg", "eval", "ClassDef", "a b", "é")}
	documents := s.documents()
	if len(documents) != 9 {
		t.Errorf("%d probes", len(documents))
	}
	var sections map[string]any
	if err := json.Unmarshal(text, &struct {
		Properties struct {
			AST struct {
				Properties *map[string]any `json:"properties"`
			} `json:"ast"`
		} `json:"properties"`
	}{struct {
		AST struct {
			Properties *map[string]any `json:"properties"`
		} `json:"ast"`
	}{struct {
		Properties *map[string]any `json:"properties"`
	}{&sections}}}); err != nil {
		t.Fatal(err)
	}
	for kind, index := range documents {
		whole := document("tool", index)
		encoded, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(encoded)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		for section := range sections {
			if _, ok := whole["ast"].(map[string]any)[section]; !ok && section != "tree" {
				t.Errorf("%s: there is no section %s", kind, section)
			}
		}
	}
}

func TestListsAreEvaluated(t *testing.T) {
	p, err := loadPolicy(t.Context(), policies.FS(), today)
	if err != nil {
		t.Fatal(err)
	}
	base, err := p.listsOf(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	tool, err := p.listsOf(t.Context(), "tool")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"allowed_imports", "partial_modules", "blocked_names", "blocked_unless_bound", "blocked_attributes", "blocked_paths", "blocked_syntax", "plain_private", "max_nodes", "code_pattern"} {
		if base[list] == nil {
			t.Errorf("there is no %s", list)
		}
	}
	for _, rule := range []string{"deny", "grants", "changes", "names_used", "usable_modules"} {
		if base[rule] != nil {
			t.Errorf("%s depends on the program and is a list", rule)
		}
	}
	has := func(lists map[string]any, list, entry string) bool {
		for _, e := range lists[list].([]any) {
			if e == entry {
				return true
			}
		}
		return false
	}
	if !has(base, "allowed_imports", "datetime") || has(tool, "allowed_imports", "datetime") || !has(tool, "allowed_imports", "numpy") {
		t.Error("what a profile takes out of a list")
	}
	if has(base, "blocked_syntax", "ClassDef") || !has(tool, "blocked_syntax", "ClassDef") {
		t.Error("what a profile puts into a list")
	}
}

// A list may be computed from others.
func TestComputedLists(t *testing.T) {
	folder := shipped(t)
	replace(t, folder, "allowlist.rego", "max_nodes := 20000", "more_names := blocked_names | {\"print\"}\n\nmore_used := more_names & object.keys(input.ast.names)\n\nmax_nodes := 20000")
	p, err := loadPolicy(t.Context(), folder, today)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := p.listsOf(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if entries, ok := lists["more_names"].([]any); !ok || len(entries) < 10 {
		t.Errorf("more_names is %v", lists["more_names"])
	}
	if lists["more_used"] != nil {
		t.Error("more_used depends on the program")
	}
}

func TestAttributesAndPaths(t *testing.T) {
	p, err := loadPolicy(t.Context(), policies.FS(), today)
	if err != nil {
		t.Fatal(err)
	}
	rules := &Rules{
		BannedAttributes: []string{"__globals__", "append", "f_back", "os", "os.system", "upper.lower"},
		BannedCalls:      []string{"json.load", "math.sqrt", "os.system"},
		DeniedImports:    []string{"math", "os"},
		DeniedNodes:      []string{"Constant", "For", "TryStar"},
	}
	s, err := p.ask(t.Context(), "solve", rules)
	if err != nil {
		t.Fatal(err)
	}
	var looser []string
	for _, f := range compare(Upstream{Name: "u"}, "solve", rules, s) {
		if f.Kind == KindLooser {
			looser = append(looser, strings.TrimSpace(f.List+" "+f.Entry+" "+f.When))
		}
	}
	want := "denied_imports math, banned_calls math.sqrt, banned_attributes append, banned_attributes os defined, banned_attributes upper.lower, denied_nodes Constant, denied_nodes For"
	if got := strings.Join(looser, ", "); got != want {
		t.Errorf("looser:\n%s\nwant\n%s", got, want)
	}
	if _, err := p.ask(t.Context(), "none", rules); err == nil {
		t.Error("a profile that is not there was asked")
	}
}

func TestRulesOfSeveralFiles(t *testing.T) {
	u := Upstream{Files: []File{
		{Rules: &Rules{AllowedImports: []string{"a", "b"}, BannedCalls: []string{"x"}}}, {},
		{Rules: &Rules{AllowedImports: []string{"b", "c"}, BannedCalls: []string{"y"}, PrivateNames: true}},
		{Rules: &Rules{DeniedNodes: []string{"Yield"}, PrivateAttributes: true}},
	}}
	all := u.merged()
	if strings.Join(all.AllowedImports, " ") != "b" || strings.Join(all.BannedCalls, " ") != "x y" || strings.Join(all.DeniedNodes, " ") != "Yield" || !all.PrivateNames || !all.PrivateAttributes || all.DeniedImports != nil {
		t.Errorf("%+v", all)
	}
	if (Upstream{Files: []File{{}}}).merged() != nil {
		t.Error("rules that nobody knows")
	}
}
