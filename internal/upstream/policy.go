package upstream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"github.com/sluice-gateway/sluice/internal/profiles"
	"github.com/sluice-gateway/sluice/internal/regofile"
)

// Bounds of a policy folder.
const (
	maxPolicyFiles = 20_000
	maxPolicyFile  = 4 << 20
)

// language is the one that upstreams are compared in.
const language = "python"

// policy is a policy folder, compiled, that can be asked.
type policy struct {
	compiler *ast.Compiler
	store    storage.Store
	profiles map[string]any // as in profiles.yaml, without waivers that are over
	marks    map[string]string
	marked   place // where the annotation stands
	decision rego.PreparedEvalQuery
	lists    rego.PreparedEvalQuery
	places   map[string]place // of the policy's lists
}

// place is a line of a file in the policy folder.
type place struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// loadPolicy reads and compiles what judges Python in the folder: the entry
// point, the rules and the operator's own packages.
func loadPolicy(ctx context.Context, folder fs.FS, now time.Time) (*policy, error) {
	files, err := regoFiles(folder)
	if err != nil {
		return nil, fmt.Errorf("read the policy: %w", err)
	}
	p := &policy{places: map[string]place{}, marks: map[string]string{}}
	modules := map[string]*ast.Module{}
	for name, text := range files {
		module, err := ast.ParseModuleWithOpts(name, text, ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1})
		if err != nil {
			return nil, fmt.Errorf("read the policy: %w", err)
		}
		if judges(module) {
			modules[name] = module
			p.readMarks(module)
		}
	}
	if p.profiles, err = readProfiles(folder, now); err != nil {
		return nil, fmt.Errorf("read the policy: %w", err)
	}
	p.compiler = ast.NewCompiler().WithCapabilities(capabilities())
	if p.compiler.Compile(modules); p.compiler.Failed() {
		return nil, fmt.Errorf("compile the policy: %w", p.compiler.Errors)
	}
	p.store = inmem.NewFromObject(map[string]any{"profiles": p.profiles})
	return p, p.prepare(ctx)
}

func (p *policy) prepare(ctx context.Context) (err error) {
	names := p.listRules()
	if len(names) == 0 {
		return errors.New("read the policy: package rules.python has no lists")
	}
	if p.lists, err = p.query(ctx, listsQuery(names)); err != nil {
		return err
	}
	p.decision, err = p.query(ctx, "data.gateway.decision")
	return err
}

func (p *policy) query(ctx context.Context, text string) (rego.PreparedEvalQuery, error) {
	query, err := rego.New(rego.Query(text), rego.Compiler(p.compiler), rego.Store(p.store), rego.StrictBuiltinErrors(true)).PrepareForEval(ctx)
	if err != nil {
		return query, fmt.Errorf("prepare the question to the policy: %w", err)
	}
	return query, nil
}

// capabilities are OPA's builtins without those that look outside.
func capabilities() *ast.Capabilities {
	caps := *ast.CapabilitiesForThisVersion()
	caps.AllowNet = []string{}
	caps.Builtins = slices.DeleteFunc(slices.Clone(caps.Builtins), func(b *ast.Builtin) bool { return b.IsNondeterministic() })
	return &caps
}

// regoFiles reads the Rego files that count, by path.
func regoFiles(folder fs.FS) (map[string]string, error) {
	files := map[string]string{}
	seen := 0
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return intoFolder(name, d.Name())
		case !isRules(d.Name()):
			return nil
		}
		if seen++; seen > maxPolicyFiles {
			return fmt.Errorf("more than %d files: is this a policy folder?", maxPolicyFiles)
		}
		text, err := readFile(folder, name, maxPolicyFile)
		files[name] = string(text)
		return err
	})
	if err == nil && len(files) == 0 {
		err = errors.New("there is no Rego file: is this a policy folder?")
	}
	return files, err
}

// intoFolder passes over folders that hold no rules.
func intoFolder(name, base string) error {
	hidden := strings.HasPrefix(base, ".") && name != "."
	if hidden || slices.Contains([]string{"testdata", "corpus", "schemas"}, name) {
		return fs.SkipDir
	}
	return nil
}

func isRules(base string) bool {
	return path.Ext(base) == ".rego" && !strings.HasSuffix(base, "_test.rego") && !strings.HasPrefix(base, ".")
}

// judges reports whether a module has a say about Python programs.
func judges(m *ast.Module) bool {
	parts := regofile.Path(m)
	switch {
	case len(parts) == 1:
		return parts[0] == "gateway"
	case len(parts) == 2 && parts[0] == "custom":
		return slices.Contains(regofile.Languages(m), language)
	}
	return len(parts) == 2 && parts[0] == "rules" && parts[1] == language
}

// readMarks takes up which pins the rules say that they follow, and where the
// lists stand.
func (p *policy) readMarks(m *ast.Module) {
	if !slices.Equal(regofile.Path(m), []string{"rules", language}) {
		return
	}
	for _, rule := range m.Rules {
		name := rule.Head.Name.String()
		if _, ok := p.places[name]; !ok && rule.Location != nil {
			p.places[name] = place{rule.Location.File, rule.Location.Row}
		}
	}
	followed, ok := regofile.Custom(m)["upstream"].(map[string]any)
	if !ok {
		return
	}
	p.marked = place{m.Package.Location.File, m.Package.Location.Row}
	for name, mark := range followed {
		p.marks[name] = fmt.Sprint(mark)
	}
}

// readProfiles reads profiles.yaml as the rules see it: with what a profile
// inherits, and without a waiver that is over.
func readProfiles(folder fs.FS, now time.Time) (map[string]any, error) {
	text, err := readFile(folder, profiles.File, maxPolicyFile)
	if err != nil {
		return nil, err
	}
	set, err := profiles.Read(text)
	if err != nil {
		return nil, err
	}
	all := map[string]any{}
	for name, p := range set.Whole {
		all[name] = profileData(p, now)
	}
	return jsonable(all)
}
