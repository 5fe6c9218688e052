package policies_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/format"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/sluice-gateway/sluice/policies"
)

// coverageFloor is how much of the rules the Rego tests must run, in percent.
const coverageFloor = 98.0

// read gives a file of the policy as it is embedded.
func read(tb testing.TB, name string) string {
	tb.Helper()
	body, err := fs.ReadFile(policies.FS(), name)
	if err != nil {
		tb.Fatal(err)
	}
	return string(body)
}

// pythonRules gives the entry point and the files that judge Python programs.
func pythonRules(tb testing.TB) map[string]string {
	tb.Helper()
	names, err := fs.Glob(policies.FS(), "python_*.rego")
	if err != nil || len(names) == 0 {
		tb.Fatalf("no rules for Python: %v", err)
	}
	found := map[string]string{}
	for _, name := range append(names, "main.rego", "allowlist.rego") {
		found[name] = read(tb, name)
	}
	return found
}

// regoFiles gives every Rego file here, tests and examples too.
func regoFiles(tb testing.TB) map[string]string {
	tb.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"*.rego", "custom/*.rego", "testdata/*.rego", "testdata/*/*.rego"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			tb.Fatal(err)
		}
		for _, name := range names {
			body, err := os.ReadFile(name)
			if err != nil {
				tb.Fatal(err)
			}
			found[name] = string(body)
		}
	}
	return found
}

func parse(tb testing.TB, name, text string) *ast.Module {
	tb.Helper()
	m, err := ast.ParseModuleWithOpts(name, text, ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1})
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// profiles gives data as the rules see it.
func profiles(tb testing.TB) map[string]any {
	tb.Helper()
	var byName map[string]any
	if err := util.Unmarshal([]byte(read(tb, "profiles.yaml")), &byName); err != nil {
		tb.Fatal(err)
	}
	return map[string]any{"profiles": byName}
}

// compiler compiles the modules as the gateway does: strict, with the schema at
// the root of the input.
func compiler(tb testing.TB, schema string, texts map[string]string) (*ast.Compiler, bool) {
	tb.Helper()
	modules := map[string]*ast.Module{}
	for name, text := range texts {
		modules[name] = parse(tb, name, text)
	}
	c := ast.NewCompiler().WithStrict(true)
	if schema != "" {
		schemas := ast.NewSchemaSet()
		schemas.Put(ast.SchemaRootRef, util.MustUnmarshalJSON([]byte(read(tb, schema))))
		c = c.WithSchemas(schemas)
	}
	c.Compile(modules)
	return c, !c.Failed()
}

func TestRegoIsFormatted(t *testing.T) {
	for name, text := range regoFiles(t) {
		want, err := format.SourceWithOpts(name, []byte(text), format.Opts{RegoVersion: ast.RegoV1})
		if err != nil {
			t.Errorf("format %s: %v", name, err)
		} else if string(want) != text {
			t.Errorf("%s is not as opa fmt writes it", name)
		}
	}
}

func TestRegoTests(t *testing.T) {
	modules := map[string]*ast.Module{}
	for name, text := range regoFiles(t) {
		if !strings.Contains(name, "/") {
			modules[name] = parse(t, name, text)
		}
	}
	coverage := cover.New()
	ctx := context.Background()
	store := inmem.NewFromObject(profiles(t))
	txn, err := store.NewTransaction(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Abort(ctx, txn)
	results, err := tester.NewRunner().SetStore(store).SetModules(modules).CapturePrintOutput(true).
		SetCoverageQueryTracer(coverage).RunTests(ctx, txn)
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for result := range results {
		ran++
		t.Run(strings.TrimPrefix(result.Package, "data.")+"."+result.Name, func(t *testing.T) {
			if !result.Pass() {
				t.Errorf("%s: %v\n%s", result.Location, result.Error, result.Output)
			}
		})
	}
	if ran < 50 {
		t.Errorf("%d Rego tests ran", ran)
	}
	report := coverage.Report(modules)
	for name := range pythonRules(t) {
		if got := report.Files[name].Coverage; got < coverageFloor {
			t.Errorf("the Rego tests run %.1f %% of %s, at least %.1f: not %v", got, name, coverageFloor, report.Files[name].NotCovered)
		}
	}
}

func TestPolicyCompilesStrictWithItsSchema(t *testing.T) {
	calc := map[string]string{"main.rego": read(t, "main.rego"), "calc.rego": read(t, "calc.rego")}
	for schema, texts := range map[string]map[string]string{"schemas/pyast-1.json": pythonRules(t), "schemas/calcast-1.json": calc} {
		if c, ok := compiler(t, schema, texts); !ok {
			t.Errorf("%s: %v", schema, c.Errors)
		}
	}
}

// Every reference below input must be one that the schema knows: a renamed
// section may not leave a rule that denies nothing.
func TestEveryMisspeltSectionIsAnError(t *testing.T) {
	texts := pythonRules(t)
	section := regexp.MustCompile(`input\.ast\.(found\.|nesting\.|formats\.)?[a-z]+`)
	seen := 0
	for name, text := range texts {
		for _, ref := range slices.Compact(slices.Sorted(slices.Values(section.FindAllString(text, -1)))) {
			seen++
			changed := maps.Clone(texts)
			changed[name] = regexp.MustCompile(regexp.QuoteMeta(ref)+`\b`).ReplaceAllString(text, ref+"x")
			if _, ok := compiler(t, "schemas/pyast-1.json", changed); ok {
				t.Errorf("%s: %sx compiles", name, ref)
			}
		}
	}
	if seen < 30 {
		t.Errorf("saw %d references", seen)
	}
}

// A not around a reference that may be undefined inside an in-expression is
// never true: such a test belongs in a function.
func TestNoNegatedMembershipInProfileData(t *testing.T) {
	bad := regexp.MustCompile(`not .* in (changes|data|entry|profile)\b`)
	for name, text := range regoFiles(t) {
		if found := bad.FindString(text); found != "" {
			t.Errorf("%s: %q", name, found)
		}
	}
}

// literals gives the lists at the top of the rules: name → entries.
func literals(t *testing.T) map[string][]string {
	t.Helper()
	lists := map[string][]string{}
	for _, rule := range parse(t, "allowlist.rego", read(t, "allowlist.rego")).Rules {
		set, ok := ast.Set(nil), false
		if rule.Head.Value != nil {
			set, ok = rule.Head.Value.Value.(ast.Set)
		}
		if !ok || len(rule.Head.Args) > 0 {
			continue
		}
		set.Foreach(func(term *ast.Term) {
			if text, ok := term.Value.(ast.String); ok {
				lists[string(rule.Head.Name)] = append(lists[string(rule.Head.Name)], string(text))
			}
		})
	}
	return lists
}

func TestANameStandsInOneOfTwoListsThatExcludeEachOther(t *testing.T) {
	lists := literals(t)
	for _, pair := range [][2]string{
		{"allowed_imports", "partial_modules"}, {"allowed_imports", "absent_modules"}, {"allowed_imports", "withheld_modules"}, {"absent_modules", "withheld_modules"}, {"allowed_imports", "blocked_paths"},
		{"partial_modules", "blocked_paths"}, {"partial_names", "blocked_paths"}, {"blocked_names", "blocked_unless_bound"},
		{"blocked_attributes", "borrowed_attributes"}, {"allowed_private", "never_private"},
		{"definable_dunders", "readable_dunders"}, {"blocked_syntax", "known_syntax"},
	} {
		for _, list := range pair {
			if len(lists[list]) == 0 {
				t.Fatalf("there is no list %s", list)
			}
		}
		for _, name := range lists[pair[0]] {
			if slices.Contains(lists[pair[1]], name) {
				t.Errorf("%s stands in %s and in %s", name, pair[0], pair[1])
			}
		}
	}
}

func TestEveryPartialNameIsOfAPartialModule(t *testing.T) {
	lists := literals(t)
	for _, name := range lists["partial_names"] {
		if !slices.ContainsFunc(lists["partial_modules"], func(m string) bool { return strings.HasPrefix(name, m+".") }) {
			t.Errorf("%s is of no module of partial_modules", name)
		}
	}
	for _, name := range lists["available_modules"] {
		if !slices.Contains(lists["allowed_imports"], name) {
			t.Errorf("%s is told to be available and is not allowed", name)
		}
	}
	for _, name := range lists["star_imports"] {
		if !slices.Contains(lists["allowed_imports"], name) {
			t.Errorf("from %s import * is allowed and its import is not", name)
		}
	}
}

// Every rule tells what to write instead, and stands in README.md.
func TestEveryRuleIsDescribed(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for name, text := range pythonRules(t) {
		for _, a := range parse(t, name, text).Annotations {
			id, ok := a.Custom["id"].(string)
			if !ok {
				continue
			}
			ids[id] = true
			if a.Title == "" || a.Description == "" || a.Custom["hint"] == nil {
				t.Errorf("%s lacks a title, a description or a hint", id)
			}
			if want := "policies/README.md#" + id; a.Custom["url"] != want {
				t.Errorf("%s has the address %v, not %s", id, a.Custom["url"], want)
			}
			if !strings.Contains(string(readme), fmt.Sprintf("\n### %s\n", id)) {
				t.Errorf("README.md has no heading %s", id)
			}
		}
	}
	if len(ids) < 15 {
		t.Errorf("found the rules %v", slices.Sorted(maps.Keys(ids)))
	}
}
