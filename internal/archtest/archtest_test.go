package archtest_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/internal/archtest"
)

const root = "../.."

func TestImportsKeepTheTable(t *testing.T) {
	imports, err := archtest.Imports(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(imports) < 100 {
		t.Fatalf("%d imports were found: the walk does not see the project", len(imports))
	}
	for _, imp := range imports {
		if why := archtest.Breach(archtest.Rooms(), imp); why != "" {
			t.Error(why)
		}
	}
}

// TestExamplesAreAuthors: a plugin in another module needs the contract and the
// kit alone; its tests, the suite too.
func TestExamplesAreAuthors(t *testing.T) {
	modules, err := filepath.Glob(filepath.Join(root, "examples", "*", "go.mod"))
	if err != nil || len(modules) < 2 {
		t.Fatalf("modules of examples: %v, %v", modules, err)
	}
	for _, module := range modules {
		imports, err := archtest.Imports(filepath.Dir(module))
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range imports {
			inner, own := strings.CutPrefix(imp.Path, archtest.Module+"/")
			if own && inner != "executor" && inner != "executor/wire" && (!imp.Test || inner != "executor/executortest") {
				t.Errorf("%s of %s imports %s", imp.File, module, inner)
			}
		}
	}
}

func TestTheTableCatches(t *testing.T) {
	const own = archtest.Module + "/"
	cases := []struct {
		file, path string
		breach     bool
	}{
		{"internal/gateway/solve.go", "github.com/open-policy-agent/opa/v1/rego", true},
		{"internal/gateway/solve.go", own + "internal/policy", true},
		{"internal/gateway/solve.go", own + "executor/wire", true},
		{"internal/gateway/solve.go", own + "executor", false},
		{"internal/gateway/solve_test.go", "go.uber.org/goleak", false},
		{"executor/executor.go", own + "internal/gateway", true},
		{"executor/wire/serve.go", "google.golang.org/grpc/codes", false},
		{"internal/front/rest/solve.go", own + "internal/auth", true},
		{"internal/front/rest/solve_test.go", own + "internal/auth", false},
		{"internal/front/rest/solve.go", own + "internal/pluginhost", true},
		{"plugins/calc/main.go", own + "internal/sandbox", true},
		{"plugins/calc/main.go", "net/http", false},
		{"internal/newroom/x.go", own + "executor", true},
		{"internal/policy/load.go", own + "internal/config", true},
	}
	for _, c := range cases {
		imp := archtest.Import{File: c.file, Path: c.path, Test: strings.HasSuffix(c.file, "_test.go")}
		if why := archtest.Breach(archtest.Rooms(), imp); (why != "") != c.breach {
			t.Errorf("%s importing %s: breach %q, want one: %v", c.file, c.path, why, c.breach)
		}
	}
}

func TestFilesAreShort(t *testing.T) {
	const most = 500
	err := filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); strings.HasPrefix(base, ".") && name != root || base == "bin" || base == "testdata" || base == "corpus" {
				return filepath.SkipDir
			}
			return nil
		}
		if ext := filepath.Ext(name); ext != ".go" && ext != ".py" && ext != ".rego" || strings.HasSuffix(name, ".pb.go") {
			return nil
		}
		if n := lines(t, name); n > most {
			t.Errorf("%s has %d lines; split it where its subject splits (at most %d)", strings.TrimPrefix(name, root+"/"), n, most)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Python writes its caches beside the sources that it imports, and make takes
// them for sources that have changed. The benchmarks import no source of ours.
func TestPythonIsStartedWithoutCaches(t *testing.T) {
	imports, err := archtest.Imports(root)
	if err != nil {
		t.Fatal(err)
	}
	started, seen := 0, map[string]bool{}
	for _, imp := range imports {
		if seen[imp.File] {
			continue
		}
		seen[imp.File] = true
		text, err := os.ReadFile(filepath.Join(root, imp.File))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if !strings.Contains(line, `"-I"`) || strings.HasPrefix(imp.File, "internal/archtest/") || strings.HasPrefix(imp.File, "bench/") {
				continue
			}
			started++
			if !strings.Contains(line, `"-B"`) {
				t.Errorf("%s:%d starts Python without -B", imp.File, i+1)
			}
		}
	}
	if started < 5 {
		t.Errorf("%d places that start Python were found: the search does not see them", started)
	}
}

func lines(t *testing.T, name string) int {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for scan := bufio.NewScanner(f); scan.Scan(); {
		n++
	}
	return n
}
