package policy

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"go.yaml.in/yaml/v4"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// plainAllows evaluates a folder as stock OPA would: no schema, not strict,
// every builtin, errors of builtins undefined. It is what each guard is
// measured against.
func plainAllows(t *testing.T, m fstest.MapFS, q gateway.Question) bool {
	t.Helper()
	options := []func(*rego.Rego){rego.Query("data.gateway.decision.allow")}
	for name, file := range m {
		if strings.HasSuffix(name, ".rego") {
			options = append(options, rego.Module(name, string(file.Data)))
		}
	}
	var data map[string]any
	if err := yaml.Load(m["profiles.yaml"].Data, &data); err != nil {
		t.Fatal(err)
	}
	value, err := readJSON(q.Tree.JSON)
	if err != nil {
		t.Fatal(err)
	}
	doc := value.(map[string]any)
	doc[keyTool], doc[keyProfile], doc[keyCaller], doc[keySession] = q.Tool, q.Profile, q.Caller, q.Session
	options = append(options, rego.Store(inmem.NewFromObject(map[string]any{"profiles": data})))
	prepared, err := rego.New(options...).PrepareForEval(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	results, err := prepared.Eval(context.Background(), rego.EvalParsedInput(ast.LazyObject(doc)))
	if err != nil {
		t.Fatal(err)
	}
	return results.Allowed()
}

const walkRule = `
# METADATA
# title: Name in the tree
# custom: {id: tree}
deny contains {"rule": "tree", "msg": "in the tree", "at": "", "subject": node.id} if {
	some node
	walk(input.ast.tree, [_, node])
	node.idd == "fork"
}
`

// A fault in the folder that plain OPA turns into an allowed program: here the
// folder does not load.
func TestFaultyFoldersDoNotLoad(t *testing.T) {
	tests := map[string]struct {
		change  func(t *testing.T, m fstest.MapFS)
		code    string // allowed by plain OPA with that fault
		profile string
		want    string
	}{
		"field that was renamed": {
			change: func(t *testing.T, m fstest.MapFS) { edit(t, m, "tiny.rego", "input.ast.names[", "input.ast.nmaes[") },
			code:   "eval", want: "tiny.rego:",
		},
		// The type checker knows no additionalProperties, so the schema does not
		// see this one; the corpus does.
		"field of an entry that was renamed": {
			change: func(t *testing.T, m fstest.MapFS) { edit(t, m, "tiny.rego", "entry.at", "entry.place") },
			code:   "import os", want: "corpus/tiny/deny/import.txt",
		},
		"misspelt field behind walk": {
			change: func(_ *testing.T, m fstest.MapFS) {
				m["tiny.rego"] = &fstest.MapFile{Data: append(m["tiny.rego"].Data, walkRule...)}
				m["corpus/tiny/deny/tree.txt"] = &fstest.MapFile{Data: []byte("# expect: tree 1\nfork\n")}
			},
			code: "fork", want: "corpus/tiny/deny/tree.txt",
		},
		"misspelt list in a profile": {
			change: func(t *testing.T, m fstest.MapFS) {
				edit(t, m, "profiles.yaml", "blocked-name: warn, ", "")
				edit(t, m, "profiles.yaml", "blocked_names:", "blocked_nmaes:")
			},
			code: "compile", profile: "lenient", want: `no list "blocked_nmaes"`,
		},
		"misspelt rule in a profile": {
			change: func(t *testing.T, m fstest.MapFS) {
				edit(t, m, "profiles.yaml", `rules: {blocked-name: warn`, `rules: {blocked-names: warn`)
				edit(t, m, "profiles.yaml", "add: [compile]", "add: []")
			},
			code: "compile", profile: "lenient", want: `no rule "blocked-names"`,
		},
		"rule in a package that the entry point does not read": {
			change: func(_ *testing.T, m fstest.MapFS) { m["extra.rego"] = denyOf("package extra", "extra", "fork") },
			code:   "fork", want: "extra.rego:1: package extra is not read",
		},
		"rule for a language that is misspelt": {
			change: func(_ *testing.T, m fstest.MapFS) {
				m["extra.rego"] = denyOf("package rules.tinny", "extra", "fork")
			},
			code: "fork", want: `"tinny"`,
		},
		"custom package that names no language": {
			change: func(_ *testing.T, m fstest.MapFS) {
				m["custom/x.rego"] = denyOf("package custom.x", "extra", "fork")
			},
			code: "", want: "custom/x.rego:1: package custom.x names no language",
		},
		"misnamed deny": {
			change: func(t *testing.T, m fstest.MapFS) {
				edit(t, m, "tiny.rego", `deny contains {"rule": "import"`, `denies contains {"rule": "import"`)
			},
			code: "import os", want: "the decision never reads it",
		},
		"list that no rule reads": {
			change: func(_ *testing.T, m fstest.MapFS) {
				m["tiny.rego"] = &fstest.MapFile{Data: append(m["tiny.rego"].Data, "\nblocked_more := {\"fork\"}\n"...)}
			},
			code: "fork", want: "blocked_more is defined and the decision never reads it",
		},
		"finding without a subject": {
			change: func(t *testing.T, m fstest.MapFS) {
				edit(t, m, "tiny.rego", `"at": entry.at, "subject": root}`, `"at": entry.at}`)
			},
			code: "import os", want: "tiny.rego:",
		},
		"undefined decision": {
			change: func(t *testing.T, m fstest.MapFS) {
				edit(t, m, "main.rego", `input.language].grants},`+"\n}", `input.language].grants},`+"\n} if input.session")
			},
			code: "", want: "decision is undefined",
		},
		"builtin that looks outside": {
			change: func(t *testing.T, m fstest.MapFS) {
				edit(t, m, "tiny.rego", `"https://example.org`, `"https://example.org`)
				edit(t, m, "tiny.rego", "not root in allowed_imports", `not root in allowed_imports
	not opa.runtime().env.SECRET_ADMITS_ALL == root`)
			},
			code: "", want: "opa.runtime",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := files(t, "tiny")
			test.change(t, m)
			if test.code != "" {
				q := question(test.code)
				if test.profile != "" {
					q.Profile = test.profile
				}
				if !plainAllows(t, m, q) {
					t.Errorf("plain OPA denies %q: the fault does not weaken the policy, so this tests nothing", test.code)
				}
			}
			s, err := Load(context.Background(), tinyConfig(m))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("load: %v, want an error with %q", err, test.want)
			}
			if _, err := s.Current(); !errors.Is(err, gateway.ErrNoPolicy) {
				t.Errorf("current: %v, want ErrNoPolicy", err)
			}
			if got := s.Status().LastError; got != err.Error() {
				t.Errorf("status shows %q", got)
			}
		})
	}
}

// denyOf is a file with one deny rule that denies a name.
func denyOf(head, id, name string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(head + `

# METADATA
# title: More
# custom: {id: ` + id + `}
deny contains {"rule": "` + id + `", "msg": "more", "at": at, "subject": "` + name + `"} if {
	some at in input.ast.names["` + name + `"]
}
`)}
}

// The unchanged folder denies what the faulty ones let pass.
func TestTheWholeFolderDenies(t *testing.T) {
	s := load(t, files(t, "tiny"))
	for _, code := range []string{"eval", "import os"} {
		if decide(t, s, question(code)).Allow {
			t.Errorf("%q is allowed", code)
		}
	}
	q := question("fork")
	if !decide(t, s, q).Allow {
		t.Error("fork is denied")
	}
}

// A fault that shows only in one decision: plain OPA allows, here nothing runs.
func TestFaultyDecisionsAllowNothing(t *testing.T) {
	tests := map[string]struct {
		change func(t *testing.T, m fstest.MapFS)
		tree   map[string]any // instead of the parser's
		code   string
		want   error
		plain  bool // plain OPA allows
	}{
		"section missing from the document": {
			tree: map[string]any{"imports": map[string]any{}}, code: "eval", want: gateway.ErrPluginFault, plain: true,
		},
		"section that is null": {
			tree: map[string]any{"imports": map[string]any{}, "names": nil}, code: "eval", want: gateway.ErrPluginFault, plain: true,
		},
		"section of another type": {
			tree: map[string]any{"imports": map[string]any{}, "names": []string{"eval"}}, code: "eval", want: gateway.ErrPluginFault, plain: true,
		},
		"builtin given a wrong type": {
			change: func(_ *testing.T, m fstest.MapFS) {
				m["tiny.rego"] = &fstest.MapFile{Data: append(m["tiny.rego"].Data, `
# METADATA
# title: Number
# custom: {id: number}
deny contains {"rule": "number", "msg": "n", "at": "", "subject": name} if {
	some name, _ in input.ast.names
	startswith(name, "n")
	to_number(name) >= 0
}
`...)}
			},
			code: "nine", want: gateway.ErrPolicyFault, plain: true,
		},
		"decision undefined": {
			change: func(t *testing.T, m fstest.MapFS) {
				edit(t, m, "main.rego", `input.language].grants},`+"\n}", `input.language].grants},`+"\n} if input.caller == \"corpus\"")
			},
			code: "print", want: gateway.ErrPolicyFault,
		},
		"two decisions": {
			change: func(t *testing.T, m fstest.MapFS) {
				edit(t, m, "main.rego", "profile := ", "decision := false if input.caller != \"corpus\"\n\nprofile := ")
			},
			code: "print", want: gateway.ErrPolicyFault,
		},
		"policy that takes for ever": {
			change: func(t *testing.T, m fstest.MapFS) {
				edit(t, m, "main.rego", "errors contains violation if {", `errors contains violation if {
	input.caller != "corpus"
	some violation in violations
	some a in numbers.range(1, 100000)
	some b in numbers.range(1, 100000)
	a * b < 0
}

errors contains violation if {`)
			},
			code: "eval", want: gateway.ErrPolicyFault,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := files(t, "tiny")
			if test.change != nil {
				test.change(t, m)
			}
			cfg := tinyConfig(m)
			cfg.Deadline = 100 * time.Millisecond
			s, err := Load(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			q := question(test.code)
			if test.tree != nil {
				q.Tree = tinyTree([]byte(test.code), test.tree)
			}
			if test.plain && !plainAllows(t, m, q) {
				t.Error("plain OPA denies it: this tests nothing")
			}
			d, err := current(t, s).Decide(context.Background(), q)
			if !errors.Is(err, test.want) || d.Allow || d.ID != "" {
				t.Errorf("decide: %+v, %v; want %v", d, err, test.want)
			}
			if want := uint64(1); errors.Is(test.want, gateway.ErrPolicyFault) && s.Status().Faults != want {
				t.Errorf("faults = %d", s.Status().Faults)
			}
		})
	}
}

// A rule that calls one of them does not compile.
func TestRulesThatLookOutsideDoNotCompile(t *testing.T) {
	caps := capabilities()
	for _, b := range ast.CapabilitiesForThisVersion().Builtins {
		if caps.ContainsBuiltin(b.Name) {
			continue
		}
		args := strings.TrimSuffix(strings.Repeat("input.code, ", b.Decl.Arity()), ", ")
		module := "package gateway\n\ndecision := " + b.Name + "(" + args + ")\n"
		modules, err := parseModules(map[string]string{"main.rego": module}, caps)
		if err != nil {
			t.Fatal(err)
		}
		_, err = compile(forLanguage(modules, "tiny"), nil, caps)
		if err == nil || !strings.Contains(err.Error(), "undefined function "+b.Name) {
			t.Errorf("%s: %v", b.Name, err)
		}
	}
}

// Every builtin that OPA calls non-deterministic is missing, by name.
func TestNothingLooksOutside(t *testing.T) {
	caps := capabilities()
	missing := 0
	for _, b := range ast.CapabilitiesForThisVersion().Builtins {
		if b.IsNondeterministic() {
			missing++
			if caps.ContainsBuiltin(b.Name) {
				t.Errorf("%s is there", b.Name)
			}
		}
	}
	if missing < 11 {
		t.Errorf("OPA calls only %d builtins non-deterministic", missing)
	}
	for _, name := range []string{"http.send", "opa.runtime", "rand.intn", "time.now_ns", "uuid.rfc4122", "net.lookup_ip_addr", "io.jwt.encode_sign", "io.jwt.decode_verify"} {
		if caps.ContainsBuiltin(name) {
			t.Errorf("%s is there", name)
		}
	}
	if caps.AllowNet == nil || len(caps.AllowNet) != 0 {
		t.Errorf("hosts that may be asked for a schema: %v", caps.AllowNet)
	}
}
