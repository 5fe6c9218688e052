package workbench

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/sluice-gateway/sluice/internal/policy"
)

// testSuffix ends the name of a file with tests.
const testSuffix = "_test.rego"

// Test is one test and how it went.
type Test struct {
	Package  string        `json:"package"` // data.rules.python_test
	Name     string        `json:"name"`
	File     string        `json:"file"`
	Line     int           `json:"line"`
	Failed   bool          `json:"failed"`
	Skipped  bool          `json:"skipped"` // its name begins with todo_
	Why      string        `json:"why,omitempty"`
	Duration time.Duration `json:"duration_ns"`
}

// TestRun is all tests of a folder and the lines that they went through.
type TestRun struct {
	Tests    []Test         `json:"tests"`    // by file and line
	Coverage float64        `json:"coverage"` // percent of the lines of all files that hold no tests
	Files    []FileCoverage `json:"files"`
}

// FileCoverage is what the tests went through in one file.
type FileCoverage struct {
	File     string  `json:"file"`
	Coverage float64 `json:"coverage"`
	Missed   []Lines `json:"missed"`
}

// Lines are the lines From to To of a file.
type Lines struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Failed counts the tests that failed.
func (r *TestRun) Failed() (n int) {
	for _, t := range r.Tests {
		if t.Failed {
			n++
		}
	}
	return n
}

// RunTests runs the Rego tests of a policy folder with OPA's own tester, as
// `opa test` does, save that rules cannot look outside. Tests whose names match
// filter (a regular expression) run; "" is all. An error is a folder that does
// not compile.
func RunTests(ctx context.Context, folder fs.FS, filter string) (*TestRun, error) {
	modules, err := parseAll(folder)
	if err != nil {
		return nil, err
	}
	lines := cover.New()
	run := &TestRun{Tests: []Test{}, Files: []FileCoverage{}}
	traced := func(r *tester.Runner) *tester.Runner { return r.SetCoverageQueryTracer(lines).SetCoverageRuns(nil) }
	err = runTests(ctx, modules, filter, traced, func(r *tester.Result) { run.Tests = append(run.Tests, testOf(r)) })
	if err != nil {
		return nil, err
	}
	if run.Failed() > 0 {
		if err := run.locate(ctx, folder); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(run.Tests, func(a, b Test) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Name, b.Name))
	})
	run.cover(lines, modules)
	return run, nil
}

func runTests(ctx context.Context, modules map[string]*ast.Module, filter string, set func(*tester.Runner) *tester.Runner, take func(*tester.Result)) error {
	store := inmem.NewFromObject(map[string]any{})
	txn, err := store.NewTransaction(ctx)
	if err != nil {
		return fmt.Errorf("run tests: %w", err)
	}
	defer store.Abort(ctx, txn)
	compiler := ast.NewCompiler().WithCapabilities(policy.Capabilities()).WithEnablePrintStatements(true)
	runner := tester.NewRunner().SetCompiler(compiler).SetStore(store).SetModules(modules).Filter(filter).CapturePrintOutput(true).SetTimeout(time.Minute)
	results, err := set(runner).RunTests(ctx, txn)
	if err != nil {
		return fmt.Errorf("compile the tests: %w", err)
	}
	for result := range results {
		take(result)
	}
	return nil
}

// locate runs the tests that failed once more, traced, and says of each which
// of its lines did not hold. Tracing and coverage exclude each other.
func (r *TestRun) locate(ctx context.Context, folder fs.FS) error {
	modules, err := parseAll(folder) // the compiler has changed those of the first run
	if err != nil {
		return err
	}
	var names []string
	for _, t := range r.Tests {
		if t.Failed {
			names = append(names, regexp.QuoteMeta(t.Package+"."+t.Name))
		}
	}
	traced := func(r *tester.Runner) *tester.Runner { return r.EnableTracing(true) }
	return runTests(ctx, modules, "^(?:"+strings.Join(names, "|")+")$", traced, func(result *tester.Result) {
		i := slices.IndexFunc(r.Tests, func(t Test) bool { return t.Package == result.Package && t.Name == result.Name })
		if line := failedAt(result); i >= 0 && line != "" {
			r.Tests[i].Why = strings.Replace(r.Tests[i].Why, whyFailed, line, 1)
		}
	})
}

// failedAt is the last line of the test itself that did not hold.
func failedAt(r *tester.Result) (text string) {
	for _, event := range r.Trace {
		expr, ok := event.Node.(*ast.Expr)
		if at := event.Location; ok && event.Op == topdown.FailOp && at != nil && at.File == r.Location.File && expr.Location != nil {
			text = fmt.Sprintf("%s:%d: this is not so: %s", at.File, at.Row, expr.Location.Text)
		}
	}
	return text
}

// whyFailed is what is told of a test that did not hold.
const whyFailed = "it is undefined or false"

func testOf(r *tester.Result) Test {
	t := Test{
		Package: r.Package, Name: r.Name, File: r.Location.File, Line: r.Location.Row,
		Failed: r.Fail || r.Error != nil, Skipped: r.Skip, Duration: r.Duration,
	}
	switch {
	case r.Error != nil:
		t.Why = r.Error.Error()
	case r.Fail:
		t.Why = whyFailed
	}
	if printed := strings.TrimSpace(string(r.Output)); printed != "" && t.Failed {
		t.Why += "\n" + printed
	}
	return t
}

// cover works out the coverage of the files that hold no tests.
func (r *TestRun) cover(lines *cover.Cover, modules map[string]*ast.Module) {
	rules := map[string]*ast.Module{}
	for name, module := range modules {
		if !strings.HasSuffix(name, testSuffix) {
			rules[name] = module
		}
	}
	report := lines.Report(rules)
	covered, all := 0, 0
	for name, file := range report.Files {
		if rules[name] == nil {
			continue
		}
		f := FileCoverage{File: name, Coverage: file.Coverage, Missed: []Lines{}}
		for _, missed := range file.NotCovered {
			f.Missed = append(f.Missed, Lines{missed.Start.Row, missed.End.Row})
		}
		f.Missed = merged(f.Missed)
		covered += file.CoveredLines
		all += file.CoveredLines + file.NotCoveredLines
		r.Files = append(r.Files, f)
	}
	slices.SortFunc(r.Files, func(a, b FileCoverage) int { return strings.Compare(a.File, b.File) })
	if all > 0 {
		r.Coverage = float64(covered) / float64(all) * 100
	}
}

// merged joins ranges that touch; they are in the order of their beginnings.
func merged(ranges []Lines) []Lines {
	out := []Lines{}
	for _, r := range ranges {
		if last := len(out) - 1; last >= 0 && r.From <= out[last].To+1 {
			out[last].To = max(out[last].To, r.To)
			continue
		}
		out = append(out, r)
	}
	return out
}

// parseAll parses every Rego file of a folder, tests among them.
func parseAll(folder fs.FS) (map[string]*ast.Module, error) {
	modules := map[string]*ast.Module{}
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "testdata" || name != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".rego":
			return nil
		}
		text, err := policy.ReadFile(folder, name)
		if err != nil {
			return err
		}
		modules[name], err = ast.ParseModuleWithOpts(name, string(text), ast.ParserOptions{
			ProcessAnnotation: true, RegoVersion: ast.RegoV1,
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the Rego files: %w", err)
	}
	return modules, nil
}
