package upstream

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Each file is a small Python module, what its sets are ("NAME kind: entries")
// and, with a "!", the names that are told to be no literal.
func TestExtraction(t *testing.T) {
	p := parser(t)
	marker := filepath.Join(t.TempDir(), "it-ran")
	files := []struct{ name, text, want string }{
		{"set", `X = {"b", "a", "b"}`, "X set: a b"},
		{"frozenset", `X = frozenset({"a"})`, "X frozenset: a"},
		{"frozenset of a list", `X = frozenset(["b", "a"])`, "X frozenset: a b"},
		{"frozenset of a tuple", `X = frozenset(("a",))`, "X frozenset: a"},
		{"set of a list", `X = set(["a"])`, "X set: a"},
		{"list", `X = ["a", "b"]`, "X list: a b"},
		{"tuple", `X = "a", "b"`, "X tuple: a b"},
		{"dict", `X = {"a": "why", "b": 2}`, "X dict: a b"},
		{"empty ones", "A = set()\nB = frozenset()\nC = []\nD = {}\nE = ()", "A set:|B frozenset:|C list:|D dict:|E tuple:"},
		{"annotated", `X: frozenset[str] = frozenset({"a"})`, "X frozenset: a"},
		{"annotated and final", "from typing import Final\nX: Final = {\"a\"}", "X set: a"},
		{"annotated without a value", `X: set[str]`, ""},
		{"union", "A = {\"a\"}\nB = frozenset({\"b\"})\nX = A | B | {\"c\"}", "A set: a|B frozenset: b|X set: a b c"},
		{"union by a method", "A = {\"a\"}\nX = A.union({\"b\"}, [\"c\"])", "A set: a|X set: a b c"},
		{"difference and intersection", "A = {\"a\", \"b\"}\nX = A - {\"a\"}\nY = A & {\"a\"}\nZ = A ^ {\"a\"}", "A set: a b|X set: b|Y set: a|Z set: b"},
		{"sum of lists", "A = [\"a\"]\nX = A + [\"b\"]", "A list: a|X list: a b"},
		{"starred", "A = (\"a\",)\nX = {*A, \"b\"}", "A tuple: a|X set: a b"},
		{"dict in dict", "A = {\"a\": 1}\nX = {**A, \"b\": 2}\nY = A | {\"c\": 3}", "A dict: a|X dict: a b|Y dict: a c"},
		{"another name", "A = {\"a\"}\nX = A", "A set: a|X set: a"},
		{"several targets", `A = B = {"a"}`, "A set: a|B set: a"},
		{"added to", "X = {\"a\"}\nX |= {\"b\"}", "X set: a b"},
		{"list added to", "X = [\"a\"]\nX += [\"b\"]", "X list: a b"},
		{"sorted", `X = sorted({"b", "a"})`, "X list: a b"},
		{"implicit joining of texts", `X = {"a" "b"}`, "X set: ab"},
		{"the last binding counts", "X = {\"a\"}\nX = {\"b\"}", "X set: b"},
		{"the last binding is no set", "X = {\"a\"}\nX = 1", ""},
		{"shadowed by a function", "X = {\"a\"}\ndef X(): pass", ""},
		{"shadowed by an import", "X = {\"a\"}\nimport X", ""},
		{"shadowed builtin", "def frozenset(x): return x\nX = frozenset({\"a\"})", "!X"},
		{"computed", `X = frozenset(n for n in dir())`, "!X"},
		{"comprehension", `X = {n for n in ("a", "b")}`, "!X"},
		{"a call", `X = load("names.txt")`, "!X"},
		{"texts taken apart", `X = set("a b".split())`, "!X"},
		{"characters of a text", `X = set("ab")`, "!X"},
		{"numbers", `X = {1, 2}`, "!X"},
		{"mixed", `X = {"a", name}`, "!X"},
		{"bytes", `X = {b"a"}`, "!X"},
		{"an unknown name", `X = {"a"} | OTHER`, "!X"},
		{"set and list do not join", "X = {\"a\"} | [\"b\"]", "!X"},
		{"conditional", "X = {\"a\"}\nif DEBUG:\n    X = {\"b\"}", "!X"},
		{"in a loop", "for X in []: pass", "!X"},
		{"try", "try:\n    X = {\"a\"}\nexcept E: pass", "!X"},
		{"changed later", "X = {\"a\"}\nX.add(\"b\")", "!X"},
		{"changed in a function", "X = {\"a\"}\ndef f():\n    X.update({\"b\"})", "!X"},
		{"changed in part", "X = [\"a\"]\nX[0] = \"b\"", "!X"},
		{"taken apart", `X, Y = {"a"}, {"b"}`, "!X|!Y"},
		{"deleted", "X = {\"a\"}\ndel X", "!X"},
		{"bound by a function", "X = {\"a\"}\ndef f():\n    global X\n    X = {\"b\"}", "!X"},
		{"dict of dicts", `X = {"a": {"b": 1}}`, "!X"},
		{"inside a class", "class A:\n    X = {\"a\"}", ""},
		{"inside a function", "def f():\n    X = {\"a\"}", ""},
		{"no collections", "A = 1\nB = 'x'\nC = lambda: 0\nD = None\nE = -1\nF = f'{A}'", ""},
		{"a byte-order mark", "\ufeffX = {\"a\"}", "X set: a"},
		{"nested", "X = " + strings.Repeat("frozenset(", 40) + `{"a"}` + strings.Repeat(")", 40), "X frozenset: a"},
		{"nested too deeply", "X = " + strings.Repeat("frozenset(", 60) + `{"a"}` + strings.Repeat(")", 60), "!X"},
		{"a long union", "X = {\"a\"}" + strings.Repeat(" | {\"b\"}", 700), "X set: a b"},
		{"lists that double", "X = [\"a\"]\n" + strings.Repeat("X = X + X\n", 200), "X list: a"},
		{"lone surrogates", `X = {"\ud800"}`, "!X"},
		{"it runs nothing", fmt.Sprintf("open(%q, 'w')\nX = {\"a\"}\nimport os; os.system('touch %s')\nraise SystemExit", marker, marker), "X set: a"},
	}
	if len(files) < 40 {
		t.Fatalf("%d files", len(files))
	}
	var all sync.WaitGroup
	slots := make(chan struct{}, 4)
	for _, tt := range files {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			sets, err := p.Extract(t.Context(), tt.name, []byte(tt.text))
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
				return
			}
			if got := listed(sets); got != tt.want {
				t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
			}
		})
	}
	all.Wait()
	if _, err := os.Stat(marker); err == nil {
		t.Error("a file was run")
	}
}

func listed(sets *Sets) string {
	var out []string
	for _, s := range sets.Sets {
		out = append(out, strings.TrimRight(s.Name+" "+s.Kind+": "+strings.Join(s.Entries, " "), " "))
	}
	for _, s := range sets.Skipped {
		out = append(out, "!"+s.Name)
	}
	return strings.Join(out, "|")
}

func TestExtractionSaysWhy(t *testing.T) {
	sets, err := parser(t).Extract(t.Context(), "why.py", []byte("X = frozenset(n for n in dir())\nY = {1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if why := sets.why("X"); !strings.HasPrefix(why, "not a literal") {
		t.Errorf("X: %q", why)
	}
	if why := sets.why("Y"); why != "not a literal: an entry is no text" {
		t.Errorf("Y: %q", why)
	}
}

func TestFilesThatAreNotRead(t *testing.T) {
	p := parser(t)
	for name, tt := range map[string]struct{ text, want string }{
		"a syntax error":    {"X = {\n\"a\"\n", "refused: f.py:1:5: the file does not parse: '{' was never closed"},
		"too large":         {"X = {'a'}\n" + strings.Repeat("#", 5<<20), "f.py has more than 1048576 bytes"},
		"a NUL":             {"X = {'a'}\x00", "does not parse"},
		"no UTF-8":          {"X = {'\xff'}", "not UTF-8"},
		"nested beyond all": {strings.Repeat("(", 500) + strings.Repeat(")", 500), "does not parse"},
		"minus minus":       {"X = " + strings.Repeat("-", 200_000) + "1", "parse"},
		"too many entries":  {"A = {" + many(9_000, 'a') + "}\nB = {" + many(9_000, 'b') + "}\nC = {" + many(9_000, 'c') + "}\nD = {" + many(9_000, 'd') + "}\nE = {" + many(9_000, 'e') + "}\nF = {" + many(9_000, 'f') + "}", "more than 50000 entries"},
	} {
		t.Run(name, func(t *testing.T) {
			sets, err := p.Extract(t.Context(), "f.py", []byte(tt.text))
			if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, %v, want %q", sets, err, tt.want)
			}
		})
	}
	for _, broken := range []PythonExec{{Command: "/nowhere", Python: p.Python}, {Command: p.Command, Python: "/nowhere"}, {Command: "/bin/false"}} {
		if _, err := broken.Extract(t.Context(), "f.py", nil); err == nil || errors.Is(err, ErrRefused) {
			t.Errorf("%v: %v", broken, err)
		}
	}
}

func many(n int, prefix rune) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "'%c%d',", prefix, i)
	}
	return out.String()
}

func TestGuards(t *testing.T) {
	for text, want := range map[string]Guards{
		"if isinstance(n, ast.Yield): raise E":                                        {DeniedNodes: []string{"Yield"}},
		"if isinstance(n, (ast.Yield, ast.Lambda)):\n    raise E('x')":                {DeniedNodes: []string{"Lambda", "Yield"}},
		"if isinstance(n, ast.Attribute) and n.attr.startswith('_'): raise E":         {PrivateAttributes: true},
		"if isinstance(n, ast.Name) and n.id.startswith('__'): raise E":               {PrivateNames: true},
		"if isinstance(n, (ast.Name, ast.Attribute)) and f(n).startswith('_'): raise": {PrivateAttributes: true, PrivateNames: true},
		"if isinstance(n, ast.Call) and isinstance(n.func, ast.Name):\n    raise E":   {},
		"if isinstance(n, ast.Import): pass":                                          {},
		"if isinstance(n, list): raise E":                                             {},
		"if isinstance(n, ast.Name) and n.id.startswith(x): raise E":                  {},
	} {
		sets, err := parser(t).Extract(t.Context(), "f.py", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if g := sets.Guards; strings.Join(g.DeniedNodes, " ") != strings.Join(want.DeniedNodes, " ") || g.PrivateAttributes != want.PrivateAttributes || g.PrivateNames != want.PrivateNames {
			t.Errorf("%s: %+v", text, g)
		}
	}
}

func TestAnswersThatAreNotTaken(t *testing.T) {
	for _, answer := range []string{
		"", "[]", "null x", `{"sets": [{"name": "a b", "kind": "set"}]}`, `{"sets": [{"name": "A", "kind": "bag"}]}`, `{"sets": [{"name": "A", "kind": "set", "line": -1}]}`,
		`{"sets": [{"name": "B", "kind": "set"}, {"name": "A", "kind": "set"}]}`, `{"sets": [{"name": "A", "kind": "set", "entries": ["b", "a"]}]}`,
		`{"sets": [{"name": "A", "kind": "set", "entries": ["\u001b[31m"]}]}`, `{"more": 1}`, `{} {}`, `{"skipped": [{"name": ""}]}`, `{"guards": {"denied_nodes": ["a b"]}}`,
	} {
		if sets, err := ReadSets("f.py", []byte(answer)); err == nil {
			t.Errorf("%s was taken: %+v", answer, sets)
		}
	}
}

func FuzzReadSets(f *testing.F) {
	f.Add([]byte(`{"sets": [{"name": "A", "kind": "set", "line": 1, "entries": ["a", "b"]}], "skipped": [{"name": "B", "line": 2, "why": "not a literal"}], "guards": {"denied_nodes": ["Yield"], "private_attributes": true, "private_names": false}}`))
	f.Add([]byte(`{"error": {"message": "the file does not parse", "line": 1, "column": 2}}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		sets, err := ReadSets("f.py", answer)
		if err != nil {
			if strings.ContainsFunc(err.Error(), func(r rune) bool { return r == '\x1b' }) {
				t.Errorf("a control gets through: %q", err)
			}
			return
		}
		for _, s := range sets.Sets {
			if !wordForm.MatchString(s.Name) || textsFault(s.Entries) != nil {
				t.Errorf("taken: %+v", s)
			}
		}
		bind(File{}, sets, true)
	})
}
