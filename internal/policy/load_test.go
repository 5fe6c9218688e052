package policy

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

type change func(t *testing.T, m fstest.MapFS)

func with(file, text string) change {
	return func(_ *testing.T, m fstest.MapFS) { m[file] = &fstest.MapFile{Data: []byte(text)} }
}

func without(names ...string) change {
	return func(_ *testing.T, m fstest.MapFS) {
		for file := range m {
			for _, name := range names {
				if file == name || strings.HasPrefix(file, name+"/") {
					delete(m, file)
				}
			}
		}
	}
}

func replaced(file, old, text string) change {
	return func(t *testing.T, m fstest.MapFS) { edit(t, m, file, old, text) }
}

func appended(file, text string) change {
	return func(_ *testing.T, m fstest.MapFS) {
		m[file] = &fstest.MapFile{Data: append([]byte(nil), string(m[file].Data)+text...)}
	}
}

func TestFoldersThatDoNotLoad(t *testing.T) {
	for name, test := range map[string]struct {
		change change
		want   string
	}{
		"no rules":                  {without("tiny.rego"), "no rules"},
		"no profiles":               {without("profiles.yaml"), "no profiles.yaml"},
		"no corpus":                 {without("corpus"), "no corpus/"},
		"nothing to deny":           {without("corpus/tiny/deny"), "needs programs to deny"},
		"nothing to allow":          {without("corpus/tiny/allow"), "needs programs to deny"},
		"admits all and has rules":  {replaced("main.rego", `{version: "7"}`, "{admits: all}"), "says that it admits everything"},
		"admits some":               {replaced("main.rego", `{version: "7"}`, "{admits: some}"), "main.rego:4: METADATA says admits: some"},
		"version with a space":      {replaced("main.rego", `{version: "7"}`, `{version: "7 8"}`), "METADATA has the version"},
		"main of another package":   {replaced("main.rego", "package gateway", "package rules.tiny"), "main.rego must be of package gateway"},
		"no decision":               {replaced("main.rego", "decision :=", "verdict :="), "never reads it"},
		"does not parse":            {appended("tiny.rego", "\ndeny contains"), "tiny.rego:"},
		"not strict":                {appended("tiny.rego", "\nf(x) := 1\n"), "tiny.rego:"},
		"schema that is no JSON":    {with("schemas/tiny.json", "{"), "schema"},
		"schema without a language": {with("schemas/more.json", "{}"), "schemas/more.json"},
		"no METADATA": {
			replaced("tiny.rego", "# custom: {id: long}", "# description: none"), `rule "long" has no METADATA`,
		},
		"METADATA of another rule": {replaced("tiny.rego", "{id: long}", "{id: lnog}"), `rule "long" has METADATA of rule "lnog"`},
		"object outside the head": {
			replaced("tiny.rego", `deny contains {"rule": "long", "msg": "too long", "at": "", "subject": "code"} if input.code.lines > 9`,
				`deny contains f if {
	input.code.lines > 9
	f := {"rule": "long", "msg": "too long", "at": "", "subject": "code"}
}`), "must stand in the head",
		},
		"id that is computed": {replaced("tiny.rego", `{"rule": "long"`, `{"rule": sprintf("long", [])`), "its id must be literal"},
		"deny that is no set": {
			replaced("tiny.rego", `deny contains {"rule": "long"`, `denied := {"rule": "long"`), "never reads it",
		},
		"unknown key in profiles":   {replaced("profiles.yaml", "limits:", "limit:"), "limit"},
		"cover of no rule":          {replaced("tiny.rego", `{id: import, hint: "Do without."}`, `{id: import, covers: [no-rule]}`), `rule "import" covers "no-rule", which is no rule`},
		"duplicate profile":         {appended("profiles.yaml", "solve: {}\n"), "solve"},
		"empty profiles":            {with("profiles.yaml", "{}\n"), "no profile"},
		"profiles are no map":       {with("profiles.yaml", "- a\n"), "profiles.yaml"},
		"unknown level":             {replaced("profiles.yaml", "blocked-name: warn", "blocked-name: wran"), `the level "wran"`},
		"list that is a function":   {replaced("profiles.yaml", "blocked_names:", "waived:"), `no list "waived"`},
		"list nobody asks for":      {replaced("profiles.yaml", "blocked_names:", "allowed_imports:"), `list "allowed_imports" is not one that profiles can change`},
		"unknown limit":             {replaced("profiles.yaml", "wall_seconds", "wall"), "unknown limit"},
		"limit of zero":             {replaced("profiles.yaml", "wall_seconds: 5", "wall_seconds: 0"), "must be above 0"},
		"shadow that is no profile": {replaced("profiles.yaml", "lenient:", "lenient:\n  shadow: {profile: solv}"), `profiles.yaml:4: profile "lenient": shadow: "solv" is no profile; there are lenient, solve`},
		"shadow of itself":          {replaced("profiles.yaml", "lenient:", "lenient:\n  shadow: {profile: lenient}"), "it is the profile itself"},
		"shadow of nothing":         {replaced("profiles.yaml", "lenient:", "lenient:\n  shadow: {share: 1}"), "it needs a profile"},
		"share of a shadow":         {replaced("profiles.yaml", "lenient:", "lenient:\n  shadow: {profile: solve, share: 1.5}"), "it is above 0 and at most 1"},
		"share of nothing":          {replaced("profiles.yaml", "lenient:", "lenient:\n  shadow: {profile: solve, share: 0}"), "it is above 0 and at most 1"},
		"grant of another form":     {replaced("profiles.yaml", "lenient:", "lenient:\n  grants: [numpy]"), `"numpy" is not import:NAME`},
		"waiver of no rule":         {replaced("profiles.yaml", "{rule: blocked-name, subject", "{rule: blocked, subject"), `waiver 1: no rule "blocked"`},
		"waiver without a reason":   {replaced("profiles.yaml", "reason: a test of waivers, ", ""), "needs a rule, a subject, a reason and a date"},
		"waiver without a date":     {replaced("profiles.yaml", ", date: 2030-01-02", ""), "needs a rule, a subject, a reason and a date"},
		"waiver with an odd date":   {replaced("profiles.yaml", "2030-01-02", "2.1.2030"), "is not of the form"},
		"waiver that ended":         {replaced("profiles.yaml", "2030-01-02", "2029-05-31"), "it ended on 2029-05-31"},
		"program denied":            {with("corpus/tiny/allow/x.txt", "eval\n"), "corpus/tiny/allow/x.txt:1: profile \"solve\": it must be allowed and is denied: blocked-name 1 (error)"},
		"program allowed":           {with("corpus/tiny/deny/x.txt", "# expect: blocked-name 2\nprint\n"), "it must be denied and is allowed"},
		"denied at another line":    {with("corpus/tiny/deny/x.txt", "# expect: blocked-name 3; profile: solve\neval\n"), `must break rule "blocked-name" at line 3; it breaks blocked-name 2`},
		"denied by another rule":    {with("corpus/tiny/deny/x.txt", "# expect: import 2; profile: solve\neval\n"), `must break rule "import" at line 2`},
		"only warned":               {with("corpus/tiny/deny/x.txt", "# expect: blocked-name 2; profile: lenient\ncompile\n"), "it must be denied and is allowed"},
		"does not parse in corpus":  {with("corpus/tiny/allow/x.txt", "!\n"), "it does not parse"},
		"corpus of another profile": {with("corpus/tiny/allow/x.txt", "# profile: slove\nprint\n"), "no such profile"},
		"corpus of a language":      {with("corpus/tnyi/deny/x.txt", "# expect: a 1\neval\n"), `there are no rules for language "tnyi"`},
		"python in another corpus":  {with("corpus/deny/x.py", "# expect: a 1\neval\n"), `there are no rules for language "python"`},
		"corpus without rules":      {with("corpus/tiny/deny/x.txt", "eval\n"), "its first line must be # expect"},
		"corpus with odd rules":     {with("corpus/tiny/deny/x.txt", "# expect: a b c\neval\n"), "is not a rule and a line"},
		"corpus with an odd line":   {with("corpus/tiny/deny/x.txt", "# expect: a 0\neval\n"), "is not a line"},
		"expectation when allowed":  {with("corpus/tiny/allow/x.txt", "# expect: import 1\nprint\n"), "if and only if"},
		"corpus in no folder":       {with("corpus/tiny/denied/x.txt", "eval\n"), "neither in a folder deny or allow"},
		"list denied":               {with("corpus/tiny/allow.txt", "print\neval\n"), "corpus/tiny/allow.txt:2"},
		"list without expectation":  {with("corpus/tiny/deny.txt", "eval\n"), "corpus/tiny/deny.txt:1"},
	} {
		t.Run(name, func(t *testing.T) {
			m := files(t, "tiny")
			test.change(t, m)
			s, err := Load(context.Background(), tinyConfig(m))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("load: %v, want an error with %q", err, test.want)
			}
			if _, err := s.Current(); err == nil {
				t.Error("it is in force")
			}
		})
	}
}

func TestFoldersThatLoad(t *testing.T) {
	for name, change := range map[string]change{
		"lists of programs": func(t *testing.T, m fstest.MapFS) {
			with("corpus/tiny/allow.txt", "# one a line\n\nprint\nprint # other\n# profile: lenient\neval\n")(t, m)
			with("corpus/tiny/deny.txt", "# profile: solve\neval  # expect: blocked-name 1\nprint exec # expect: blocked-name\n")(t, m)
		},
		"a version that is a number": replaced("main.rego", `{version: "7"}`, "{version: 7.1}"),
		"notes and tests": func(t *testing.T, m fstest.MapFS) {
			with("corpus/README.md", "x")(t, m)
			with("tiny_test.rego", "x")(t, m)
		},
		"hidden files": with(".git/x.rego", "x"),
		"testdata":     with("testdata/other/main.rego", "package gateway"),
		"other files":  with("upstream.yaml", "a: b"),
		"custom of a language": func(_ *testing.T, m fstest.MapFS) {
			m["custom/x.rego"] = denyOf("# METADATA\n# custom: {language: tiny}\npackage custom.x", "x", "fork")
		},
		"no schema in the folder": without("schemas"),
	} {
		t.Run(name, func(t *testing.T) {
			m := files(t, "tiny")
			cfg := tinyConfig(m)
			change(t, m)
			if _, err := Load(context.Background(), cfg); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheCorpusNeedsAParser(t *testing.T) {
	cfg := tinyConfig(files(t, "tiny"))
	cfg.Parse = nil
	if _, err := Load(context.Background(), cfg); !errors.Is(err, errNoParse) {
		t.Errorf("load without a parser: %v", err)
	}
	cfg.SkipCorpus = true
	if _, err := Load(context.Background(), cfg); err != nil {
		t.Errorf("load without the corpus: %v", err)
	}
	cfg = tinyConfig(files(t, "tiny"))
	cfg.Parse = func(context.Context, string, []byte, []string) (executor.Tree, *executor.Result, error) {
		return executor.Tree{}, nil, errors.New("plugin is gone")
	}
	if _, err := Load(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "plugin is gone") {
		t.Errorf("load with a parser that fails: %v", err)
	}
}

func TestTheCorpusStopsWithItsCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cfg := tinyConfig(files(t, "tiny"))
	parse := cfg.Parse
	cfg.Parse = func(ctx context.Context, l string, code []byte, sections []string) (executor.Tree, *executor.Result, error) {
		cancel()
		return parse(ctx, l, code, sections)
	}
	if _, err := Load(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("load: %v", err)
	}
}

// At most Workers programs are parsed at once.
func TestTheCorpusRunsOnAFewWorkers(t *testing.T) {
	m := files(t, "tiny")
	with("corpus/tiny/allow.txt", strings.Repeat("print\n", 50))(t, m)
	var now, most atomic.Int64
	cfg := tinyConfig(m)
	cfg.Workers = 3
	cfg.Parse = func(ctx context.Context, l string, code []byte, sections []string) (executor.Tree, *executor.Result, error) {
		defer now.Add(-1)
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		return parseTiny(ctx, l, code, sections)
	}
	if _, err := Load(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	if most.Load() > 3 || most.Load() < 1 {
		t.Errorf("%d programs at once", most.Load())
	}
}

// The type checker believes the schema; the corpus proves that the plugin
// follows it.
func TestDocumentsThatDoNotFollowTheirSchemaDoNotLoad(t *testing.T) {
	cfg := tinyConfig(files(t, "tiny"))
	cfg.Parse = func(_ context.Context, _ string, code []byte, _ []string) (executor.Tree, *executor.Result, error) {
		doc := tinyDocument(code, map[string]any{
			"names": map[string]any{"eval": []any{1}}, "imports": map[string]any{"os": []any{map[string]any{"modul": "os", "at": "2:0:2:1"}}},
		})
		return executor.Tree{Schema: "tiny/1", JSON: marshal(doc)}, nil, nil
	}
	if _, err := Load(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "does not follow its schema") {
		t.Errorf("load: %v", err)
	}
}

// METADATA cannot put another schema in the place of the language's.
func TestMetadataCannotSwapTheSchema(t *testing.T) {
	m := files(t, "tiny")
	edit(t, m, "tiny.rego", "input.ast.names[", "input.ast.nmaes[")
	edit(t, m, "tiny.rego", "# title: Blocked name", "# title: Blocked name\n# schemas:\n#   - input: {type: object}")
	if _, err := Load(context.Background(), tinyConfig(m)); err == nil || !strings.Contains(err.Error(), "nmaes") {
		t.Errorf("load: %v", err)
	}
}

func TestLanguagesWithoutRulesOrPlugin(t *testing.T) {
	m := files(t, "tiny")
	cfg := tinyConfig(m)
	cfg.Languages = append(cfg.Languages, executor.Language{ID: "other", TreeSchema: "other/1"})
	s, err := Load(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if w := strings.Join(s.Status().Warnings, "\n"); !strings.Contains(w, `no rules for language "other"`) {
		t.Errorf("warnings %q", w)
	}
	cfg.Languages = nil
	if s, err = Load(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	if w := strings.Join(s.Status().Warnings, "\n"); !strings.Contains(w, `no plugin parses "tiny"`) || s.Status().Corpus != 0 {
		t.Errorf("warnings %q", w)
	}
}

func TestASchemaThatDiffersFromThePluginsIsTold(t *testing.T) {
	m := files(t, "tiny")
	cfg := tinyConfig(m)
	edit(t, m, "schemas/tiny.json", `"tree": {}`, `"tree": {}, "more": {}`)
	s, err := Load(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if w := strings.Join(s.Status().Warnings, "\n"); !strings.Contains(w, "schemas/tiny.json differs") {
		t.Errorf("warnings %q", w)
	}
}

// A schema that the plugin does not send is taken from the folder, and one that
// admits unknown members is refused: it would guard nothing.
func TestSchemas(t *testing.T) {
	m := files(t, "tiny")
	cfg := tinyConfig(m)
	cfg.Languages[0].Schema = nil
	if _, err := Load(context.Background(), cfg); err != nil {
		t.Errorf("schema of the folder: %v", err)
	}
	for text, want := range map[string]string{
		`{"type": "object"}`: "additionalProperties", `[]`: "read schema",
		`{"additionalProperties": false, "properties": {"ast": {"properties": {"names": {"$ref": "https://example.org/x"}}}}}`: "",
	} {
		cfg.Languages[0].Schema = []byte(text)
		if _, err := Load(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A waiver whose end is near is warned of, with its line, at the load and for as
// long as it stands.
func TestAWaiverThatEndsSoonIsWarnedOf(t *testing.T) {
	for date, want := range map[string]bool{"2029-06-01": true, "2029-06-14": true, "2029-06-16": false, "2030-01-02": false} {
		m := files(t, "tiny")
		edit(t, m, "profiles.yaml", "2030-01-02", date)
		s := load(t, m)
		warned := slices.ContainsFunc(s.Status().Warnings, func(w string) bool {
			return strings.HasPrefix(w, "profiles.yaml:") && strings.Contains(w, "ends on "+date)
		})
		if warned != want {
			t.Errorf("a waiver that ends on %s: warned %v, want %v: %q", date, warned, want, s.Status().Warnings)
		}
	}
}

func TestAProfileInherits(t *testing.T) {
	m := files(t, "tiny")
	m["profiles.yaml"].Data = append(m["profiles.yaml"].Data, []byte("\nheir:\n  extends: solve\n  rules: {blocked-name: warn}\n")...)
	s := load(t, m)
	q := question("eval")
	q.Profile = "heir"
	if d := decide(t, s, q); !d.Allow || len(d.Violations) != 1 || d.Violations[0].Level != "warn" {
		t.Errorf("the heir's own level does not hold: %+v", d)
	}
	edit(t, m, "profiles.yaml", "extends: solve", "extends: slove")
	if _, err := Load(context.Background(), tinyConfig(m)); err == nil || !strings.Contains(err.Error(), `extends "slove"`) {
		t.Errorf("error %v", err)
	}
}

// A waiver that ends while its policy is in force no longer holds, and the same
// folder no longer loads.
func TestWaiversLapse(t *testing.T) {
	var now atomic.Pointer[time.Time]
	set := func(text string) {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		now.Store(&at)
	}
	set("2030-01-01T00:00:00Z")
	m := files(t, "tiny")
	edit(t, m, "profiles.yaml", "blocked-name: warn, ", "")
	edit(t, m, "corpus/tiny/allow/lenient.txt", "exec eval", "exec")
	cfg := tinyConfig(m)
	cfg.Now = func() time.Time { return *now.Load() }
	s, err := Load(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	q := question("eval")
	q.Profile = "lenient"
	for at, allow := range map[string]bool{"2030-01-01T00:00:00Z": true, "2030-01-02T23:59:59Z": true} {
		set(at)
		if decide(t, s, q).Allow != allow {
			t.Errorf("%s: allow is %v", at, !allow)
		}
	}
	set("2030-01-03T00:00:00Z")
	for range 2 {
		if decide(t, s, q).Allow {
			t.Error("the waiver holds after its day")
		}
	}
	if err := s.Reload(context.Background()); err == nil || !strings.Contains(err.Error(), "it ended on 2030-01-02") {
		t.Errorf("reload: %v", err)
	}
}

func TestFoldersAreBounded(t *testing.T) {
	m := files(t, "tiny")
	m["big.rego"] = &fstest.MapFile{Data: make([]byte, maxFileBytes+1)}
	if _, err := Load(context.Background(), tinyConfig(m)); err == nil || !strings.Contains(err.Error(), "big.rego: it is larger") {
		t.Errorf("load: %v", err)
	}
	m = files(t, "tiny")
	for i := range maxFiles {
		m["x/"+strings.Repeat("x", i%50)+time.Duration(i).String()] = &fstest.MapFile{}
	}
	if _, err := Load(context.Background(), tinyConfig(m)); err == nil || !strings.Contains(err.Error(), "is this a policy folder?") {
		t.Errorf("load: %v", err)
	}
	m = files(t, "tiny")
	m["more.rego/x"] = &fstest.MapFile{}
	if _, err := Load(context.Background(), tinyConfig(m)); err != nil {
		t.Errorf("folder with the name of a file: %v", err)
	}
}

func TestTheDigestCoversWhatDecides(t *testing.T) {
	digest := func(change change) string {
		m := files(t, "tiny")
		change(t, m)
		f, err := readFolder(m)
		if err != nil {
			t.Fatal(err)
		}
		return f.digest()
	}
	same := digest(with("README", "x"))
	for name, change := range map[string]change{
		"rules": appended("tiny.rego", "\n"), "profiles": appended("profiles.yaml", "\n"), "schemas": appended("schemas/tiny.json", "\n"),
		"a new file": with("custom/x.rego", ""),
	} {
		if digest(change) == same {
			t.Errorf("%s do not count", name)
		}
	}
	for name, change := range map[string]change{
		"corpus": appended("corpus/tiny/allow/plain.txt", "x"), "tests": with("x_test.rego", "x"), "nothing": with("y", "x"),
	} {
		if digest(change) != same {
			t.Errorf("%s counts", name)
		}
	}
}
