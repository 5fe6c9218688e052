package upstream

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/rego"
)

// canaries are modules that the standard library has and a list may not: a
// policy that no longer restricts imports is found out by them.
func canaries() []string {
	return []string{
		"_ctypes", "_io", "_posixsubprocess", "_socket", "ast", "asyncio", "atexit", "builtins", "code", "codecs", "concurrent",
		"contextlib", "ctypes", "dis", "ftplib", "gc", "glob", "http", "importlib", "inspect", "io", "linecache", "logging", "marshal",
		"mmap", "multiprocessing", "os", "pathlib", "pickle", "pkgutil", "platform", "posix", "pty", "resource", "runpy", "select",
		"shelve", "shutil", "signal", "smtplib", "socket", "sqlite3", "ssl", "subprocess", "sys", "sysconfig", "tempfile", "threading",
		"time", "traceback", "types", "typing", "urllib", "uuid", "warnings", "weakref", "webbrowser", "zipimport",
		canaryModule,
	}
}

// canaryModule is a module that no list names: refused unless all imports are
// open.
const canaryModule = "module_that_no_list_names"

// canaryPrivate are private names that no list names.
func canaryPrivate() []string {
	return []string{"_", "_name", "__name", "__name__", "__class__", "__dict__", "__subclasses__", "__globals__", "__builtins__"}
}

// stance is what a profile refuses of the things that it was asked about, by
// what they were asked as.
type stance struct {
	asked   []string // every entry of every list, the upstream's and the canaries
	listed  map[string]bool
	refused map[string]map[string]bool // probe → subject
}

// Kinds of probe. Each is one document that names many things in one way.
const (
	probeImport     = "import"
	probeName       = "name"
	probeBound      = "bound"
	probeAttribute  = "attribute"
	probeDefined    = "defined"
	probeNode       = "node"
	probePrivateAt  = "private attribute"
	probePrivateNam = "private name"
	probePath       = "path"
)

var (
	moduleForm = regexp.MustCompile(`^[\pL_][\pL\pN_]*(\.[\pL_][\pL\pN_]*)*$`)
	wordForm   = regexp.MustCompile(`^[\pL_][\pL\pN_]*$`)
)

// ask asks the policy about everything that its lists or the upstream's rules
// name.
func (p *policy) ask(ctx context.Context, profile string, rules *Rules) (*stance, error) {
	if _, ok := p.profiles[profile]; !ok {
		return nil, fmt.Errorf("compare the profile %q: profiles.yaml has none of that name", profile)
	}
	lists, err := p.listsOf(ctx, profile)
	if err != nil {
		return nil, err
	}
	own := p.texts(lists, profile)
	asked := setOf(slices.Concat(own, canaries(), canaryPrivate()))
	for _, list := range setLists() {
		for _, entry := range rules.list(list) {
			asked[entry] = true
		}
	}
	s := &stance{asked: sorted(asked), listed: setOf(own), refused: map[string]map[string]bool{}}
	for kind, index := range s.documents() {
		if s.refused[kind], err = p.refusals(ctx, profile, index); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// documents are the probes' indexes: see schemas/pyast-1.json for what a real
// one holds. Each names everything that was asked, in one way only, so that a
// refusal has one reason.
func (s *stance) documents() map[string]map[string]any {
	words := slices.DeleteFunc(slices.Clone(s.asked), func(t string) bool { return !wordForm.MatchString(t) })
	paths := slices.DeleteFunc(slices.Clone(s.asked), func(t string) bool { return wordForm.MatchString(t) })
	private := slices.DeleteFunc(slices.Clone(words), func(t string) bool { return !strings.HasPrefix(t, "_") })
	return map[string]map[string]any{
		probeImport:     {"imports": importsOf(s.asked)},
		probeName:       {"names": placed(words)},
		probeBound:      {"names": placed(words), "bound": valued(words, []any{"assign", "firm"})},
		probeAttribute:  {"attributes": placed(words)},
		probeDefined:    {"attributes": placed(words), "members": placed(words)},
		probeNode:       {"kinds": placed(words)},
		probePath:       {"paths": placed(paths)},
		probePrivateAt:  {"attributes": placed(private), "private": privateAs(private, "attribute"), "found": map[string]any{"private": true}},
		probePrivateNam: {"names": placed(private), "private": privateAs(private, "name"), "found": map[string]any{"private": true}},
	}
}

const anywhere = "1:0:1:1"

// placed gives every word a line of its own: rules excuse what stands at the
// place of something that is open.
func placed(words []string) map[string]any {
	out := map[string]any{}
	for i, w := range words {
		out[w] = []any{fmt.Sprintf("%d:0:%d:1", i+1, i+1)}
	}
	return out
}

func valued(words []string, value any) map[string]any {
	out := map[string]any{}
	for _, w := range words {
		out[w] = value
	}
	return out
}

func privateAs(words []string, as string) map[string]any {
	return valued(words, []any{map[string]any{"at": anywhere, "as": as}})
}

// importsOf names modules as import statements do, by root.
func importsOf(modules []string) map[string]any {
	byRoot := map[string]any{}
	for _, m := range modules {
		if !moduleForm.MatchString(m) {
			continue
		}
		root := rootOf(m)
		entries, _ := byRoot[root].([]any)
		byRoot[root] = append(entries, map[string]any{"module": m, "at": anywhere})
	}
	return byRoot
}

func rootOf(module string) string {
	root, _, _ := strings.Cut(module, ".")
	return root
}

// document is a whole input document around an index.
func document(profile string, index map[string]any) map[string]any {
	whole := map[string]any{}
	for _, section := range []string{
		"imports", "aliases", "names", "bound", "attributes", "members", "private", "paths", "values", "stores", "identifiers", "kinds",
		"strings", "words", "calls", "formats", "decorators", "classes", "integers", "nesting", "source", "found", "truncated",
	} {
		whole[section] = map[string]any{}
	}
	for section, value := range index {
		whole[section] = value
	}
	return map[string]any{
		"schema": "pyast/1", "language": language, "grammar": "3.11", "tool": "python", "profile": profile, "caller": "", "session": false,
		"code": map[string]any{"sha256": strings.Repeat("0", 64), "bytes": 1, "lines": 1, "nodes": 1, "depth": 1},
		"ast":  whole,
	}
}

// refusals lists the subjects that the policy refuses in a document: by a rule
// whose level is error in that profile.
func (p *policy) refusals(ctx context.Context, profile string, index map[string]any) (map[string]bool, error) {
	results, err := p.decision.Eval(ctx, rego.EvalInput(document(profile, index)))
	if err != nil {
		return nil, fmt.Errorf("ask the policy: %w", err)
	}
	if len(results) != 1 {
		return nil, errors.New("ask the policy: it decides nothing")
	}
	decision, _ := results[0].Expressions[0].Value.(map[string]any)
	violations, ok := decision["violations"].([]any)
	if !ok {
		return nil, errors.New("ask the policy: its decision has no violations")
	}
	subjects := map[string]bool{}
	if decision["allow"] != false {
		return subjects, nil
	}
	for _, v := range violations {
		violation, _ := v.(map[string]any)
		subject, isText := violation["subject"].(string)
		if isText && violation["level"] == "error" {
			subjects[subject] = true
		}
	}
	return subjects, nil
}
