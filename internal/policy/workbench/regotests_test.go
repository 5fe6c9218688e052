package workbench

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestTheShippedTestsPass(t *testing.T) {
	run, err := RunTests(context.Background(), os.DirFS("../../../policies"), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Tests) < 80 || run.Failed() != 0 || run.Coverage < 80 {
		t.Errorf("%d tests, %d failed, %.1f %% covered", len(run.Tests), run.Failed(), run.Coverage)
	}
	for _, f := range run.Files {
		if strings.HasSuffix(f.File, testSuffix) {
			t.Errorf("%s counts as covered", f.File)
		}
		t.Log(f.File, f.Coverage)
	}
	if some, err := RunTests(context.Background(), os.DirFS("../../../policies"), "test_listed_import"); err != nil || len(some.Tests) != 1 {
		t.Errorf("filtered: %v, %v", some, err)
	}
}

func TestFailuresAreTold(t *testing.T) {
	folder := fstest.MapFS{
		"a.rego":      {Data: []byte("package rules.tiny\n\nyes if input.x == 1\n\nno if input.x == 2\n")},
		"a_test.rego": {Data: []byte("package rules.tiny_test\n\nimport data.rules.tiny\n\ntest_yes if tiny.yes with input as {\"x\": 1}\n\ntest_no if {\n\tprint(\"look\")\n\ttiny.no with input as {\"x\": 1}\n}\n\ntodo_test_later if false\n")},
	}
	run, err := RunTests(context.Background(), folder, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Tests) != 3 || run.Failed() != 1 || !run.Tests[1].Failed || !run.Tests[2].Skipped {
		t.Fatalf("%+v", run.Tests)
	}
	if why := run.Tests[1].Why; !strings.Contains(why, "a_test.rego:9: this is not so: tiny.no") || !strings.Contains(why, "look") {
		t.Errorf("why: %s", why)
	}
	if f := run.Files; len(f) != 1 || f[0].File != "a.rego" || f[0].Coverage == 0 || f[0].Coverage == 100 {
		t.Errorf("%+v", f)
	}
	folder["b.rego"] = &fstest.MapFile{Data: []byte("package custom.b\n\nx := http.send({})\n")}
	if _, err := RunTests(context.Background(), folder, ""); err == nil || !strings.Contains(err.Error(), "http.send") {
		t.Errorf("a rule that looks outside: %v", err)
	}
}
