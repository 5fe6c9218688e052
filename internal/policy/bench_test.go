package policy

import (
	"context"
	"os"
	"testing"
	"testing/fstest"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// pythonSchema is enough of a schema for the rules in testdata/python.
const pythonSchema = `{"type": "object", "additionalProperties": false, "properties": {
	"schema": {"const": "pyast/1"}, "language": {"const": "python"}, "grammar": {"type": "string"}, "code": {"type": "object"},
	"ast": {"type": "object", "additionalProperties": false, "properties": {
		"imports": {"type": "object"}, "names": {"type": "object"}, "attributes": {"type": "object"}, "paths": {"type": "object"},
		"identifiers": {"type": "object"}, "kinds": {"type": "object"}, "strings": {"type": "object"}, "calls": {"type": "object"},
		"truncated": {"type": "object"}}}}}`

// python is a store with the rules in testdata/python and a question about its
// program of 50 lines, whose document the Python runtime wrote.
func python(tb testing.TB) (*Store, gateway.Question) {
	tb.Helper()
	read := func(name string) []byte {
		body, err := os.ReadFile("testdata/python/" + name)
		if err != nil {
			tb.Fatal(err)
		}
		return body
	}
	m := fstest.MapFS{
		"main.rego":          files(tb, "tiny")["main.rego"],
		"python.rego":        {Data: read("python.rego")},
		"profiles.yaml":      {Data: []byte("solve: {}\n")},
		"corpus/deny/a.py":   {Data: []byte("# expect: call 2\neval('1')\n")},
		"corpus/allow/a.py":  {Data: []byte("print(1)\n")},
		"schemas/pyast.json": {Data: []byte(pythonSchema)},
	}
	s, err := Load(context.Background(), Config{FS: m, SkipCorpus: true, Now: today})
	if err != nil {
		tb.Fatal(err)
	}
	return s, gateway.Question{
		Language: "python", Tool: "python", Profile: "solve", Caller: "worker",
		Source: executor.Source{Language: "python", Code: read("fifty.py")},
		Tree:   executor.Tree{Schema: "pyast/1", JSON: read("fifty.json")},
	}
}

func TestADecisionAllocatesLittle(t *testing.T) {
	s, q := python(t)
	if d := decide(t, s, q); !d.Allow || len(d.Violations) > 0 {
		t.Fatalf("decision: %+v", d)
	}
	p := current(t, s)
	got := testing.AllocsPerRun(50, func() {
		if _, err := p.Decide(context.Background(), q); err != nil {
			t.Error(err)
		}
	})
	t.Logf("%.0f allocations", got)
	if got > maxAllocations {
		t.Errorf("%.0f allocations for a document of %d bytes, at most %d", got, len(q.Tree.JSON), maxAllocations)
	}
}

func BenchmarkDecide(b *testing.B) {
	s, q := python(b)
	p := current(b, s)
	b.SetBytes(int64(len(q.Tree.JSON)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Decide(context.Background(), q); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadJSON(b *testing.B) {
	_, q := python(b)
	b.SetBytes(int64(len(q.Tree.JSON)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readJSON(q.Tree.JSON); err != nil {
			b.Fatal(err)
		}
	}
}
