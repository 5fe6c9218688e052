package policy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/policy/policytest"
)

const attacksPage = "../../docs/attacks.md"

const attacksHead = "# Attacks and what stops them\n\n" +
	"Programs that were collected from advisories, issue threads and trials (`policies/corpus`, names with `given`). Each is refused by a named rule at the\n" +
	"text that offends, or passes the policy and is stopped by a wall; what walls there are: [threat-model.md](threat-model.md). A test judges each by the\n" +
	"shipped policy (profile `solve`) and holds this page to what it finds. A rule that stops a program here may be got round by another program: the\n" +
	"policy is a filter, and the walls are the boundary.\n\n" +
	"## Refused by a rule\n\n| attack | rule | line:column | text at the place |\n|---|---|---|---|\n"

const attacksWalls = "\n## Stopped by a wall\n\nThe policy lets these pass, because ordinary programs look the same.\n\n| attack | what stops it |\n|---|---|\n"

// Every given attack is caught by a named rule at the offending text, or is
// listed with the wall that stops it. UPDATE_DOCS=1 writes the page.
func TestEveryAttackIsCaughtOrListed(t *testing.T) {
	s, python := shipped(t)
	var page strings.Builder
	page.WriteString(attacksHead)
	refused := append(given(t, shippedPolicies+"/corpus/deny"), given(t, "testdata/attacks")...)
	for _, file := range refused {
		page.WriteString(caught(t, s, python, file))
	}
	page.WriteString(attacksWalls)
	walls, listed := wallsOf(t), 0
	for _, file := range given(t, shippedPolicies+"/corpus/allow") {
		name := attackName(file)
		wall, ok := walls[name]
		if !ok {
			continue // an ordinary program that was given to pass
		}
		listed++
		code := read(t, file)
		if d := decide(t, s, ask(t, s, python, "solve", code)); !d.Allow {
			t.Errorf("%s is listed with a wall, and refused: %+v", name, d.Violations)
		}
		fmt.Fprintf(&page, "| %s | %s |\n", name, wall)
	}
	if listed != len(walls) || len(refused)+listed < 114 {
		t.Errorf("%d attacks refused, %d of %d listed with a wall", len(refused), listed, len(walls))
	}
	if os.Getenv("UPDATE_DOCS") != "" {
		if err := os.WriteFile(attacksPage, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(read(t, attacksPage)); got != page.String() {
		t.Error("docs/attacks.md is not what the policy says now: run this test with UPDATE_DOCS=1")
	}
}

func given(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(dir + "/given-*.py")
	if err != nil || len(files) == 0 {
		t.Fatal(dir, err)
	}
	return files
}

func attackName(file string) string {
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "given-"), ".py")
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func wallsOf(t *testing.T) map[string]string {
	t.Helper()
	walls := map[string]string{}
	for line := range strings.Lines(string(read(t, "testdata/attacks/walls.tsv"))) {
		name, wall, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok || wall == "" {
			t.Fatalf("walls.tsv: %q", line)
		}
		walls[name] = wall
	}
	return walls
}

// caught is the row of an attack: the rules of its heading, each with its place
// and what stands there.
func caught(t *testing.T, s *Store, python *policytest.Python, file string) string {
	t.Helper()
	code := read(t, file)
	first, _, _ := strings.Cut(string(code), "\n")
	e := example{name: file, deny: true}
	if err := e.heading(first); err != nil {
		t.Fatal(err)
	}
	profile := "solve"
	if len(e.profiles) > 0 {
		profile = e.profiles[0]
	}
	sections, err := current(t, s).Sections("python")
	if err != nil {
		t.Fatal(err)
	}
	tree, ended, err := python.Parse(context.Background(), "python", code, sections)
	if err != nil || ended != nil {
		t.Fatal(file, ended, err)
	}
	q := ask(t, s, python, profile, code)
	q.Tree = tree
	d, err := s.current.Load().decide(context.Background(), q, s.cfg.Now(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	var rules, places, texts []string
	for _, want := range e.expect {
		for _, v := range d.Violations {
			if !want.met(v) {
				continue
			}
			text := at1(t, file, string(code), v)
			rules, places, texts = append(rules, v.Rule), append(places, fmt.Sprintf("%d:%d", v.Line, v.Column)), append(texts, text)
			break
		}
	}
	if len(rules) != len(e.expect) {
		t.Errorf("%s: expected %+v, found %+v", file, e.expect, d.Violations)
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", attackName(file), strings.Join(rules, "<br>"), strings.Join(places, "<br>"), strings.Join(texts, "<br>"))
}

// at1 is the text at a violation's place, which must be there; "the program" of
// a finding about the whole.
func at1(t *testing.T, file, code string, v gateway.Violation) string {
	t.Helper()
	if v.Line == 1 && v.Column == 1 && v.EndColumn == 1 {
		return "the whole program"
	}
	lines := strings.Split(code, "\n")
	if v.Line > len(lines) || v.EndLine > len(lines) || v.EndLine < v.Line {
		t.Errorf("%s: place %d:%d lies outside", file, v.Line, v.Column)
		return ""
	}
	line := []rune(lines[v.Line-1])
	end := len(line)
	if v.EndLine == v.Line {
		end = v.EndColumn - 1
	}
	if v.Column-1 >= end || end > len(line) {
		t.Errorf("%s: place %d:%d-%d lies outside its line of %d", file, v.Line, v.Column, v.EndColumn, len(line))
		return ""
	}
	text := string(line[v.Column-1 : end])
	if shown := []rune(text); len(shown) > 48 {
		text = string(shown[:47]) + "…"
	}
	return "`" + strings.NewReplacer("|", `\|`, "`", "'").Replace(text) + "`"
}
