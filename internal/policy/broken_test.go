package policy

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

// Twenty kinds of broken policies and some more: each is refused with the file,
// the line and what to do, and the policy before it stays in force.
func TestBrokenPoliciesAreToldWithPlaceAndRemedy(t *testing.T) {
	last := func(text string) change { return appended("tiny.rego", "\n"+text) }
	rule := func(id, body string) string {
		return "# METADATA\n# title: More\n# custom: {id: " + id + "}\ndeny contains {\"rule\": \"" + id + "\", \"msg\": \"m\", \"at\": \"\", \"subject\": \"s\"} if {\n\t" + body + "\n}\n"
	}
	for name, test := range map[string]struct {
		change             change
		file, text, remedy string
	}{
		"renamed section":           {change: replaced("tiny.rego", "input.ast.names[", "input.ast.nmaes["), file: "tiny.rego", text: "undefined ref", remedy: `did you mean "names"`},
		"renamed field of an entry": {change: replaced("tiny.rego", "entry.at", "entry.place"), file: "corpus/tiny/deny/import.txt", text: "must break rule", remedy: "explain"},
		"misspelt field behind walk": {change: func(t *testing.T, m fstest.MapFS) {
			last(rule("behind", "some node\n\twalk(input.ast.imports, [_, node])\n\tnode.modle == \"os\""))(t, m)
			m["corpus/tiny/deny/behind.txt"] = &fstest.MapFile{Data: []byte("# expect: behind 1\nimport os\n")}
		}, file: "corpus/tiny/deny/behind.txt", text: "is allowed", remedy: "explain"},
		"builtin that looks outside":      {change: last(rule("x", `http.send({"url": "x"}).status_code == 200`)), file: "tiny.rego", text: "http.send", remedy: "a rule decides from input and data alone"},
		"builtin that shows the host":     {change: last(rule("x", "opa.runtime().env.X")), file: "tiny.rego", text: "opa.runtime", remedy: "a rule decides from input and data alone"},
		"builtin that reads the clock":    {change: last(rule("x", "time.now_ns() > 0")), file: "tiny.rego", text: "time.now_ns", remedy: "a rule decides from input and data alone"},
		"builtin given a wrong type":      {change: last(rule("x", "some name, _ in input.ast.names\n\tto_number(name) >= 0")), file: "tiny.rego", text: "eval_", remedy: "is_string"},
		"rule in a package nobody reads":  {change: with("extra.rego", "package extra\n"), file: "extra.rego", text: "is not read by the entry point", remedy: "package custom.NAME"},
		"rule for a misspelt language":    {change: with("extra.rego", "package rules.tinny\n"), file: "extra.rego", text: `"tinny"`, remedy: "correct the language's name"},
		"custom rule without language":    {change: with("custom/x.rego", "package custom.x\n"), file: "custom/x.rego", text: "names no language", remedy: "scope: package"},
		"misnamed deny":                   {change: replaced("tiny.rego", `deny contains {"rule": "import"`, `denies contains {"rule": "import"`), file: "tiny.rego", text: "the decision never reads it", remedy: "name the set deny"},
		"list that nobody reads":          {change: last("blocked_more := {\"fork\"}\n"), file: "tiny.rego", text: "blocked_more is defined", remedy: "use the list in a rule"},
		"finding without a subject":       {change: replaced("tiny.rego", `"at": entry.at, "subject": root}`, `"at": entry.at}`), file: "tiny.rego", text: "a deny rule is written", remedy: "exactly these four keys"},
		"rule without METADATA":           {change: replaced("tiny.rego", "# custom: {id: long}", "# description: none"), file: "tiny.rego", text: "has no METADATA", remedy: "# custom: {id:"},
		"rule begun and not written":      {change: last(strings.Replace(rule("begun", "input.ast.names.begun"), "{id: begun}", "{id: begun, hint: \""+UnwrittenHint+"\"}", 1)), file: "tiny.rego", text: "hint that it was begun with", remedy: "what to write instead"},
		"misspelt builtin":                {change: last(rule("x", "some name, _ in input.ast.names\n\tstartswth(name, \"a\")")), file: "tiny.rego", text: "undefined function startswth", remedy: `did you mean startswith?`},
		"misspelt function":               {change: last(rule("x", "some name, _ in input.ast.names\n\ttoo_longg(name)") + "\ntoo_long(x) if count(x) > 9\n"), file: "tiny.rego", text: "undefined function", remedy: "did you mean too_long?"},
		"function named like a builtin":   {change: last("count(x) := 0 if x\n"), file: "tiny.rego", text: "name of one of OPA's builtins", remedy: "another name"},
		"hint of a novel's length":        {change: last(strings.Replace(rule("wordy", "input.ast.names.wordy"), "{id: wordy}", "{id: wordy, hint: "+strings.Repeat("long ", 500)+"}", 1)), file: "tiny.rego", text: "METADATA with a text of", remedy: "a sentence or two"},
		"METADATA of another rule":        {change: replaced("tiny.rego", "{id: long}", "{id: lnog}"), file: "tiny.rego", text: `"lnog"`, remedy: "one id"},
		"syntax":                          {change: last("deny contains\n"), file: "tiny.rego", text: "rego_parse_error", remedy: "correct the syntax"},
		"unsafe variable":                 {change: last(rule("x", "not input.ast.names[name]")), file: "tiny.rego", text: "rego_unsafe_var_error", remedy: "give the variable a value"},
		"rule that leads back to itself":  {change: last("a if b\n\nb if a\n"), file: "tiny.rego", text: "rego_recursion_error", remedy: "cannot lead back"},
		"undefined decision":              {change: replaced("main.rego", `input.language].grants},`+"\n}", `input.language].grants},`+"\n} if input.session"), file: "main.rego", text: "decision is undefined", remedy: "one object for every input"},
		"rule that takes for ever":        {change: last(rule("x", "some a in numbers.range(1, 100000)\n\tsome b in numbers.range(1, 100000)\n\ta * b < 0")), file: "tiny.rego", text: "no decision within", remedy: "policy bench"},
		"misspelt list in a profile":      {change: replaced("profiles.yaml", "blocked_names:", "blocked_nmaes:"), file: "profiles.yaml", text: `no list "blocked_nmaes"`, remedy: "correct the list's name"},
		"misspelt rule in a profile":      {change: replaced("profiles.yaml", "blocked-name: warn", "blocked-names: warn"), file: "profiles.yaml", text: `no rule "blocked-names"`, remedy: "correct the rule's id"},
		"unknown level":                   {change: replaced("profiles.yaml", "blocked-name: warn", "blocked-name: wran"), file: "profiles.yaml", text: `"wran"`, remedy: "error, warn or off"},
		"unknown limit":                   {change: replaced("profiles.yaml", "wall_seconds", "wall"), file: "profiles.yaml", text: "unknown limit", remedy: "wall_seconds"},
		"waiver that ended":               {change: replaced("profiles.yaml", "2030-01-02", "2029-05-31"), file: "profiles.yaml", text: "it ended on", remedy: "later date"},
		"program that passes and may not": {change: with("corpus/tiny/deny/x.txt", "# expect: blocked-name 2\nprint\n"), file: "corpus/tiny/deny/x.txt", text: "is allowed", remedy: "explain"},
		"program that may pass and fails": {change: with("corpus/tiny/allow/x.txt", "print\neval\n"), file: "corpus/tiny/allow/x.txt", text: "is denied", remedy: "corpus/deny"},
		"no entry point":                  {change: replaced("main.rego", "decision :=", "verdict :="), file: "main.rego", text: "never reads it", remedy: "name the set deny"},
	} {
		t.Run(name, func(t *testing.T) {
			m := files(t, "tiny")
			cfg := tinyConfig(m)
			s, err := Load(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			before := current(t, s).Revision()
			test.change(t, m)
			err = s.Reload(context.Background())
			whole := new(LoadError)
			if !errors.As(err, &whole) {
				t.Fatalf("reload: %v", err)
			}
			if got := current(t, s).Revision(); got != before {
				t.Errorf("revision %s is in force, %s was", got, before)
			}
			for _, f := range whole.Faults {
				if f.File == test.file && f.Line > 0 && strings.Contains(f.Message, test.text) && strings.Contains(f.Remedy, test.remedy) {
					return
				}
			}
			t.Errorf("no fault of %s with a line, %q and the remedy %q:\n%v", test.file, test.text, test.remedy, err)
		})
	}
}
