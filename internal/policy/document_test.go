package policy

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// A document that is not about this source, this language or this schema is the
// plugin's fault, and nothing is decided on it.
func TestDocumentsThatDoNotMatch(t *testing.T) {
	s := load(t, files(t, "tiny"))
	code := []byte("print")
	sections := map[string]any{"names": map[string]any{}, "imports": map[string]any{}}
	for name, change := range map[string]func(q *gateway.Question, doc map[string]any){
		"another source":            func(q *gateway.Question, _ map[string]any) { q.Source.Code = []byte("print ") },
		"another digest":            func(_ *gateway.Question, doc map[string]any) { doc["code"] = map[string]any{"sha256": "00"} },
		"no code":                   func(_ *gateway.Question, doc map[string]any) { delete(doc, "code") },
		"code of another type":      func(_ *gateway.Question, doc map[string]any) { doc["code"] = "x" },
		"another language":          func(_ *gateway.Question, doc map[string]any) { doc["language"] = "python" },
		"language of another type":  func(_ *gateway.Question, doc map[string]any) { doc["language"] = map[string]any{"a": 1} },
		"another schema":            func(_ *gateway.Question, doc map[string]any) { doc["schema"] = "tiny/2" },
		"another schema in trailer": func(q *gateway.Question, _ map[string]any) { q.Tree.Schema = "tiny/2" },
		"no ast":                    func(_ *gateway.Question, doc map[string]any) { delete(doc, "ast") },
		"ast of another type":       func(_ *gateway.Question, doc map[string]any) { doc["ast"] = []string{"x"} },
		"its own profile":           func(_ *gateway.Question, doc map[string]any) { doc["profile"] = "lenient" },
		"its own session":           func(_ *gateway.Question, doc map[string]any) { doc["session"] = true },
		"a member that is unknown":  func(_ *gateway.Question, doc map[string]any) { doc["extra"] = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			doc := tinyDocument(code, sections)
			q := question(string(code))
			change(&q, doc)
			q.Tree.JSON = marshal(doc)
			d, err := current(t, s).Decide(context.Background(), q)
			if !errors.Is(err, gateway.ErrPluginFault) || d.Allow {
				t.Errorf("decide: %+v, %v", d, err)
			}
		})
	}
	for name, text := range map[string]string{
		"empty": "", "an array": "[]", "text": `"x"`, "cut": `{"schema": "tiny/1"`, "twice": `{"schema": "tiny/1", "schema": "tiny/1"}`,
	} {
		q := question(string(code))
		q.Tree.JSON = []byte(text)
		if _, err := current(t, s).Decide(context.Background(), q); !errors.Is(err, gateway.ErrPluginFault) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDocumentsAreBounded(t *testing.T) {
	cfg := tinyConfig(files(t, "tiny"))
	cfg.MaxDocumentBytes = 1000
	s, err := Load(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := current(t, s).Decide(context.Background(), question(strings.Repeat("print ", 200))); !errors.Is(err, gateway.ErrPluginFault) {
		t.Errorf("decide: %v", err)
	}
}

func TestQuestionsThatHaveNoAnswer(t *testing.T) {
	p := current(t, load(t, files(t, "tiny")))
	q := question("print")
	q.Profile = "slove"
	if _, err := p.Decide(context.Background(), q); !errors.Is(err, gateway.ErrUnknownProfile) {
		t.Errorf("unknown profile: %v", err)
	}
	q = question("print")
	q.Profile = ""
	if _, err := p.Decide(context.Background(), q); !errors.Is(err, gateway.ErrUnknownProfile) {
		t.Errorf("no profile: %v", err)
	}
	q = question("print")
	q.Language = "python"
	if _, err := p.Decide(context.Background(), q); !errors.Is(err, gateway.ErrNoPolicy) {
		t.Errorf("language without rules: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Decide(ctx, question("print")); !errors.Is(err, context.Canceled) || errors.Is(err, gateway.ErrPolicyFault) {
		t.Errorf("caller gone: %v", err)
	}
}

func TestAPanicIsAPolicyFault(t *testing.T) {
	cfg := tinyConfig(files(t, "tiny"))
	cfg.SkipCorpus = true
	cfg.NewID = func() string { panic("no randomness") }
	s, err := Load(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	d, err := current(t, s).Decide(context.Background(), question("print"))
	if !errors.Is(err, gateway.ErrPolicyFault) || d.Allow || s.Status().Faults != 1 {
		t.Errorf("decide: %+v, %v", d, err)
	}
}

func TestACallerThatLeavesStopsADecision(t *testing.T) {
	m := files(t, "tiny")
	edit(t, m, "main.rego", "errors contains violation if {", `errors contains violation if {
	input.caller != "corpus"
	some violation in violations
	some a in numbers.range(1, 1000000)
	some b in numbers.range(1, 1000000)
	a * b < 0
}

errors contains violation if {`)
	cfg := tinyConfig(m)
	cfg.Deadline = time.Hour
	s, err := Load(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := current(t, s).Decide(ctx, question("eval")); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, gateway.ErrPolicyFault) {
		t.Errorf("decide: %v", err)
	}
}

func TestCutPlacesAreCounted(t *testing.T) {
	s := load(t, files(t, "tiny"))
	q := question("eval\neval exec")
	q.Tree = tinyTree(q.Source.Code, map[string]any{
		"names":   map[string]any{"eval": []string{"1:0:1:4", "2:0:2:4"}, "exec": []string{"2:5:2:9"}},
		"imports": map[string]any{},
		"truncated": map[string]any{
			"names": map[string]any{"eval": 4984, "print": 3}, "imports": map[string]any{"exec": 7},
		},
	})
	d := decide(t, s, q)
	var more []int
	for _, v := range d.Violations {
		more = append(more, v.More)
	}
	if len(more) != 3 || more[0] != 0 || more[1] != 4984 || more[2] != 0 {
		t.Errorf("more = %v for %+v", more, d.Violations)
	}
}

func TestProfilesChangeLevelsListsAndLimits(t *testing.T) {
	s := load(t, files(t, "tiny"))
	q := question("import os\nexec compile eval")
	d := decide(t, s, q)
	if d.Allow || len(d.Violations) != 3 || d.Limits != (executor.Limits{Wall: 5 * time.Second}) || d.Profile != "solve" {
		t.Errorf("solve: %+v", d)
	}
	q.Profile = "lenient"
	d = decide(t, s, q)
	if !d.Allow || len(d.Violations) != 1 || d.Violations[0].Subject != "compile" || d.Violations[0].Level != "warn" || d.Profile != "lenient" {
		t.Errorf("lenient: %+v", d)
	}
}

func TestAFindingWithoutAPlaceStandsAtTheBeginning(t *testing.T) {
	d := decide(t, load(t, files(t, "tiny")), question(strings.Repeat("\n", 10)))
	if len(d.Violations) != 1 || d.Violations[0].Line != 1 || d.Violations[0].Column != 1 || d.Violations[0].Rule != "long" {
		t.Errorf("decision: %+v", d)
	}
}

// Whatever a plugin sends, a decision is a fault or is about this source, and a
// banned name in the document is never allowed.
func FuzzDecide(f *testing.F) {
	s := load(f, files(f, "tiny"))
	p := current(f, s)
	for _, code := range []string{"print", "eval", "import os"} {
		f.Add(question(code).Tree.JSON)
	}
	f.Add(wholeTree([]byte("eval")).JSON)
	f.Add([]byte(`{"schema":"tiny/1","language":"tiny","code":{},"ast":{}}`))
	q := question("eval")
	f.Fuzz(func(t *testing.T, doc []byte) {
		q := q
		q.Tree.JSON = doc
		d, err := p.Decide(context.Background(), q)
		switch {
		case err == nil && d.Allow && namesIn(doc)["eval"] != nil:
			t.Errorf("%s is allowed", doc)
		case err != nil && !errors.Is(err, gateway.ErrPluginFault) && !errors.Is(err, gateway.ErrPolicyFault):
			t.Errorf("%s: %v", doc, err)
		case err != nil && strings.Contains(err.Error(), "panic"):
			t.Errorf("%s: %v", doc, err)
		}
	})
}

// namesIn gives the identifiers that a document shows with their places.
func namesIn(doc []byte) map[string][]string {
	found := map[string][]string{}
	value, _ := readJSON(doc)
	root, _ := value.(map[string]any)
	sections, _ := root[keyAST].(map[string]any)
	section, _ := sections["names"].(map[string]any)
	for name, places := range section {
		if list, ok := places.([]string); ok {
			found[name] = list
		}
	}
	return found
}
