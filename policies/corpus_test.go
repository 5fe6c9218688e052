package policies_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/util"
)

// interpreter is the Python with which the executor is built, or a newer one
// named by PYTHON.
func interpreter(tb testing.TB) string {
	tb.Helper()
	if name := os.Getenv("PYTHON"); name != "" {
		return name
	}
	name, err := filepath.Abs("../.venv/bin/python")
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := os.Stat(name); err != nil {
		tb.Fatalf("there is no %s: make build makes it, or PYTHON names a Python of 3.11 or newer", name)
	}
	return name
}

// documents has Python parse and index programs, in the order of their names.
func documents(tb testing.TB, sections string, names []string) map[string]map[string]any {
	tb.Helper()
	cmd := exec.Command(interpreter(tb), "-I", "-B", "testdata/dump.py", "../plugins/python-exec/runtime", sections)
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("index programs: %v\n%s", err, stderr.String())
	}
	found := map[string]map[string]any{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var line struct {
			Name     string
			Document map[string]any
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			tb.Fatal(err)
		}
		found[line.Name] = line.Document
	}
	if len(found) != len(names) {
		tb.Fatalf("%d documents of %d programs", len(found), len(names))
	}
	return found
}

// judge is the decision under a profile, made by stock OPA.
type judge struct{ query rego.PreparedEvalQuery }

type verdict struct {
	Allow      bool
	Violations []struct{ Rule, Level, Msg, At, Subject string }
}

func newJudge(tb testing.TB, extra ...func(*rego.Rego)) judge {
	tb.Helper()
	options := append([]func(*rego.Rego){
		rego.Query("data.gateway.decision"),
		rego.Store(inmem.NewFromObjectWithOpts(profiles(tb), inmem.OptReturnASTValuesOnRead(true))),
		rego.StrictBuiltinErrors(true),
		rego.Strict(true),
	}, extra...)
	for name, text := range pythonRules(tb) {
		options = append(options, rego.Module(name, text))
	}
	query, err := rego.New(options...).PrepareForEval(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return judge{query}
}

func question(tb testing.TB, document map[string]any, profile string) ast.Value {
	tb.Helper()
	for key, value := range map[string]any{"tool": "python", "profile": profile, "caller": "test", "session": false} {
		document[key] = value
	}
	input, err := ast.InterfaceToValue(document)
	if err != nil {
		tb.Fatal(err)
	}
	return input
}

func (j judge) ask(tb testing.TB, input ast.Value) verdict {
	tb.Helper()
	results, err := j.query.Eval(context.Background(), rego.EvalParsedInput(input))
	if err != nil || len(results) != 1 {
		tb.Fatalf("decision: %v, %d results", err, len(results))
	}
	text, err := json.Marshal(results[0].Expressions[0].Value)
	if err != nil {
		tb.Fatal(err)
	}
	var v verdict
	if err := json.Unmarshal(text, &v); err != nil {
		tb.Fatal(err)
	}
	return v
}

func (v verdict) errors() []string {
	var list []string
	for _, violation := range v.Violations {
		if violation.Level == "error" {
			line, _, _ := strings.Cut(violation.At, ":")
			list = append(list, strings.TrimSpace(violation.Rule+" "+line))
		}
	}
	slices.Sort(list)
	return list
}

// heading reads a program's first line: what must be found, and under which profiles.
func heading(text string) (expect, under []string) {
	first, _, _ := strings.Cut(text, "\n")
	under = []string{"solve", "tool"}
	for _, part := range strings.Split(strings.TrimPrefix(first, "#"), ";") {
		part = strings.TrimSpace(part)
		if rest, ok := strings.CutPrefix(part, "expect:"); ok {
			for _, one := range strings.Split(rest, ",") {
				expect = append(expect, strings.TrimSpace(one))
			}
		}
		if rest, ok := strings.CutPrefix(part, "profile:"); ok {
			under = strings.FieldsFunc(rest, func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	return expect, under
}

func TestCorpus(t *testing.T) {
	for kind, least := range map[string]int{"deny": 240, "allow": 190} {
		names, err := corpus(kind)
		if err != nil || len(names) < least {
			t.Fatalf("%d programs to %s, at least %d (%v)", len(names), kind, least, err)
		}
		j := newJudge(t)
		for name, document := range documents(t, "*", names) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			expect, under := heading(string(text))
			for _, profile := range under {
				t.Run(fmt.Sprintf("%s/%s", strings.TrimSuffix(filepath.Base(name), ".py"), profile), func(t *testing.T) {
					compare(t, j.ask(t, question(t, document, profile)), kind == "deny", expect)
				})
			}
		}
	}
}

func compare(t *testing.T, v verdict, deny bool, expect []string) {
	t.Helper()
	found := v.errors()
	if v.Allow == deny {
		t.Errorf("allow is %v; found %q", v.Allow, found)
	}
	for _, want := range expect {
		if !slices.ContainsFunc(found, func(f string) bool { return f == want || strings.HasPrefix(f, want+" ") }) {
			t.Errorf("%q is not among %q", want, found)
		}
	}
}

// The whole dump stays a supported road: a rule that walks the tree is found
// without an edit of main.rego, and gives places.
func TestARuleOverTheTree(t *testing.T) {
	text, err := os.ReadFile("testdata/tree.rego")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "program.py")
	if err := os.WriteFile(name, []byte("x = 3\nif 3 == x:\n    print(x == 3)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	document := documents(t, "*", []string{name})[name]
	got := newJudge(t, rego.Module("tree.rego", string(text))).ask(t, question(t, document, "solve"))
	if found := got.errors(); !slices.Equal(found, []string{"constant-left 2"}) {
		t.Errorf("found %q", found)
	}
}

func TestADecisionAllocatesLittle(t *testing.T) {
	j, input := fiftyLines(t)
	got := testing.AllocsPerRun(20, func() {
		if _, err := j.query.Eval(context.Background(), rego.EvalParsedInput(input)); err != nil {
			t.Error(err)
		}
	})
	t.Logf("%.0f allocations", got)
	if got > maxAllocations {
		t.Errorf("%.0f allocations, at most %d", got, maxAllocations)
	}
}

func BenchmarkDecision(b *testing.B) {
	j, input := fiftyLines(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := j.query.Eval(context.Background(), rego.EvalParsedInput(input)); err != nil {
			b.Fatal(err)
		}
	}
}

func fiftyLines(tb testing.TB) (judge, ast.Value) {
	tb.Helper()
	document := documents(tb, "*", []string{"testdata/fifty.py"})["testdata/fifty.py"]
	delete(document["ast"].(map[string]any), "tree")
	j, input := newJudge(tb), question(tb, document, "solve")
	if v := j.ask(tb, input); !v.Allow || len(v.Violations) > 0 {
		tb.Fatalf("found %+v", v)
	}
	return j, input
}

// Every document of the corpus is as the schema says, so that rules and
// documents are held to the same text.
func TestDocumentsFollowTheSchema(t *testing.T) {
	names, err := corpus("*")
	if err != nil {
		t.Fatal(err)
	}
	query, err := rego.New(
		rego.Query("json.match_schema(input.document, data.schema)"),
		rego.Store(inmem.NewFromObject(map[string]any{"schema": util.MustUnmarshalJSON([]byte(read(t, "schemas/pyast-1.json")))})),
		rego.StrictBuiltinErrors(true),
	).PrepareForEval(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	match := func(document any) []any {
		results, err := query.Eval(context.Background(), rego.EvalInput(map[string]any{"document": document}))
		if err != nil {
			t.Fatal(err)
		}
		return results[0].Expressions[0].Value.([]any)
	}
	for name, document := range documents(t, "*", names) {
		if got := match(document); got[0] != true {
			t.Errorf("%s: %v", name, got[1])
		}
		document["ast"].(map[string]any)["nmes"] = map[string]any{}
		if got := match(document); got[0] != false {
			t.Fatalf("a misspelt section of %s passes the schema", name)
		}
	}
}

// corpus names the programs of a kind: those that the gateway proves a policy
// with when it loads one, and the longer list beside them.
func corpus(kind string) ([]string, error) {
	short, err := filepath.Glob("corpus/" + kind + "/*.py")
	if err != nil {
		return nil, err
	}
	long, err := filepath.Glob("testdata/corpus/" + kind + "/*.py")
	return append(short, long...), err
}
