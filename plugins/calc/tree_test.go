package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/executor"
)

func treeOfText(t *testing.T, code string, sections []string, limit uint64) (executor.Tree, error) {
	t.Helper()
	program, err := calculator{}.Parse(t.Context(), executor.Source{Code: []byte(code), Sections: sections, MaxTreeBytes: limit})
	if err != nil {
		return executor.Tree{}, err
	}
	return program.Tree(), nil
}

func TestTreeShowsWhatIsUsed(t *testing.T) {
	tree, err := treeOfText(t, "math.sqrt(x) +\\\n max(é := 2, key=abs) ** -0x1F", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"schema":"calcast/1","language":"calc","grammar":"3.11","code":{"sha256":"5e","bytes":47,"lines":2,"nodes":14,"depth":5},` +
		`"ast":{"calls":{"math.sqrt":[{"at":"1:0:1:12","args":1,"keywords":[]}],"max":[{"at":"2:1:2:21","args":1,"keywords":["key"]}]},` +
		`"depth":5,"kinds":{"Attribute":["1:0:1:9"],"Call":["1:0:1:12","2:1:2:21"],"Chain":["1:0:2:30"],"Constant":["2:10:2:11","2:26:2:30"],` +
		`"Name":["1:10:1:11","2:1:2:4","2:5:2:6","2:17:2:20"],"NamedExpr":["2:5:2:11"],"Power":["2:1:2:30"],"UnaryOp":["2:25:2:30"]},` +
		`"literals":{"int":[{"at":"2:10:2:11","text":"2"},{"at":"2:26:2:30","text":"0x1F"}]},` +
		`"names":{"abs":["2:17:2:20"],"max":["2:1:2:4"],"x":["1:10:1:11"],"é":["2:5:2:6"]},"nodes":14,` +
		`"operators":{"**":["2:22:2:24"],"+":["1:13:1:14"],"-":["2:25:2:26"]},"paths":{"math.sqrt":["1:0:1:9"]},` +
		`"tree":{"_type":"Chain","loc":"1:0:2:30","ops":["+"],"kids":[{"_type":"Call","loc":"1:0:1:12","kids":[` +
		`{"_type":"Attribute","loc":"1:0:1:9","attr":"sqrt","kids":[{"_type":"Name","loc":"1:0:1:4","id":"math"}]},` +
		`{"_type":"Name","loc":"1:10:1:11","id":"x"}]},{"_type":"Power","loc":"2:1:2:30","ops":["**"],"kids":[` +
		`{"_type":"Call","loc":"2:1:2:21","keywords":["key"],"kids":[{"_type":"Name","loc":"2:1:2:4","id":"max"},` +
		`{"_type":"NamedExpr","loc":"2:5:2:11","kids":[{"_type":"Name","loc":"2:5:2:6","id":"é"},` +
		`{"_type":"Constant","loc":"2:10:2:11","literal":"int","text":"2"}]},{"_type":"Name","loc":"2:17:2:20","id":"abs"}]},` +
		`{"_type":"UnaryOp","loc":"2:25:2:30","ops":["-"],"kids":[{"_type":"Constant","loc":"2:26:2:30","literal":"int","text":"0x1F"}]}]}]},` +
		`"truncated":{}}}`
	got := regexp.MustCompile(`"sha256":"[0-9a-f]{64}"`).ReplaceAllString(string(tree.JSON), `"sha256":"5e"`)
	if got != want {
		t.Errorf("have %s\nwant %s", got, want)
	}
	if tree.Nodes != 14 || tree.Depth != 5 || tree.Schema != treeSchema {
		t.Errorf("%d nodes, depth %d, %s", tree.Nodes, tree.Depth, tree.Schema)
	}
}

func TestTreeIsTheSameForTheSameText(t *testing.T) {
	code := "a+b-c*d(e)/f.g" + strings.Repeat("+x1", 30)
	first, err := treeOfText(t, code, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if again, _ := treeOfText(t, code, nil, 0); !bytes.Equal(first.JSON, again.JSON) {
			t.Fatal("another tree")
		}
	}
}

func TestTreeHasTheSectionsThatAreWanted(t *testing.T) {
	for _, c := range []struct{ wanted, have []string }{
		{nil, []string{"calls", "depth", "kinds", "literals", "names", "nodes", "operators", "paths", "tree", "truncated"}},
		{[]string{}, []string{"truncated"}},
		{[]string{"names", "kinds", "no such"}, []string{"kinds", "names", "truncated"}},
	} {
		tree, err := treeOfText(t, "1+1", c.wanted, 0)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			AST map[string]any `json:"ast"`
		}
		if err := json.Unmarshal(tree.JSON, &doc); err != nil {
			t.Fatal(err)
		}
		if have := slices.Sorted(maps.Keys(doc.AST)); !slices.Equal(have, c.have) {
			t.Errorf("%v: %v", c.wanted, have)
		}
	}
}

func TestTreeTellsWhatItCut(t *testing.T) {
	tree, err := treeOfText(t, "f(1)"+strings.Repeat("+f(1)", 19), []string{"calls", "names", "operators", "literals"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var doc document
	if err := json.Unmarshal(tree.JSON, &doc); err != nil {
		t.Fatal(err)
	}
	want := `{"calls":{"f":4},"kinds":{"Call":4,"Constant":4,"Name":4},"literals":{"int":4},"names":{"f":4},"operators":{"+":3}}`
	if have, _ := json.Marshal(doc.AST["truncated"]); string(have) != want {
		t.Errorf("%s", have)
	}
}

func TestTreeOverTheLimitIsRefused(t *testing.T) {
	if _, err := treeOfText(t, "1+1", nil, 100); !errors.Is(err, executor.ErrTreeTooLarge) {
		t.Error(err)
	}
}

// TestSchemaCopies: the plugin embeds what the policy is compiled against.
func TestSchemaCopies(t *testing.T) {
	theirs, err := os.ReadFile("../../policies/schemas/calcast-1.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(schema, theirs) {
		t.Error("calcast-1.json here and in policies/schemas differ; copy one over the other")
	}
	if !bytes.Equal(calculator{}.Describe().Languages[0].Schema, theirs) {
		t.Error("the plugin describes another schema")
	}
}

// TestPolicyKnowsTheFunctions: the lists of calc.rego are those of the tables.
func TestPolicyKnowsTheFunctions(t *testing.T) {
	rules, err := os.ReadFile("../../policies/calc.rego")
	if err != nil {
		t.Fatal(err)
	}
	for list, want := range map[string][]string{
		"functions": slices.Sorted(maps.Keys(bare)),
		"constants": slices.Sorted(maps.Keys(constants)),
	} {
		text := regexp.MustCompile(`(?s)\n` + list + ` := \{(.*?)\}`).FindSubmatch(rules)
		if text == nil {
			t.Fatalf("calc.rego has no list %s", list)
		}
		var have []string
		for _, word := range regexp.MustCompile(`"(\w+)"`).FindAllSubmatch(text[1], -1) {
			have = append(have, string(word[1]))
		}
		if slices.Sort(have); !slices.Equal(have, want) {
			t.Errorf("%s in calc.rego: %v, the calculator has %v", list, have, want)
		}
	}
}
