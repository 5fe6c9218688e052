package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func rendered(t *testing.T, r *Report, format string) string {
	t.Helper()
	var out bytes.Buffer
	if err := r.Render(&out, format, "policies"); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestReportsInEveryFormat(t *testing.T) {
	folder := shipped(t)
	cutEntry(t, folder, "blocked_names", "eval")
	report := check(t, folder, StrictNot)

	text := rendered(t, report, FormatText)
	if !strings.Contains(text, "error: looser: tiny_gdn bans eval(), profile tool does not (list banned_calls, entry eval, rule blocked-name, profile tool) [allowlist.rego:") || !strings.HasSuffix(text, "\nnot in step\n") {
		t.Errorf("text:\n%s", text)
	}

	var back Report
	if err := json.Unmarshal([]byte(rendered(t, report, FormatJSON)), &back); err != nil {
		t.Fatal(err)
	}
	if f := back.Looser(); back.Exit != ExitLooser || back.InStep || len(f) != 1 || f[0].Entry != "eval" || f[0].Rule != "blocked-name" || len(back.Pins) != 2 {
		t.Errorf("JSON: %+v", back)
	}

	var sarif sarifLog
	if err := json.Unmarshal([]byte(rendered(t, report, FormatSARIF)), &sarif); err != nil {
		t.Fatal(err)
	}
	first := sarif.Runs[0].Results[0]
	if sarif.Version != "2.1.0" || first.RuleID != KindLooser || first.Level != "error" || first.Locations[0].Physical.Artifact.URI != "policies/allowlist.rego" || first.Locations[0].Physical.Region.StartLine < 2 || first.Properties["entry"] != "eval" {
		t.Errorf("SARIF: %+v", first)
	}
	known := map[string]bool{}
	for _, rule := range sarif.Runs[0].Tool.Driver.Rules {
		known[rule.ID] = rule.Short.Text != ""
	}
	for _, result := range sarif.Runs[0].Results {
		if !known[result.RuleID] || result.Locations[0].Physical.Region.StartLine < 1 {
			t.Errorf("SARIF: rule %q is not described", result.RuleID)
		}
	}

	markdown := rendered(t, report, FormatMarkdown)
	if !strings.Contains(markdown, "| error | looser | tiny_gdn | tool | banned_calls | eval | blocked-name |") || !strings.HasPrefix(markdown, "## vendor-sync check: not in step\n") {
		t.Errorf("Markdown:\n%s", markdown)
	}
	if err := report.Render(&bytes.Buffer{}, "yaml", ""); err == nil {
		t.Error("a format that is none")
	}
	for _, format := range Formats() {
		if err := report.Render(full{}, format, ""); !errors.Is(err, errFull) {
			t.Errorf("%s: a failed write: %v", format, err)
		}
	}
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// What an upstream's commits say stays text in a pull request.
func TestMarkdownOfDrift(t *testing.T) {
	long(t)
	h := newHistory(t)
	cfg := with(t, pinned(t, h.pin, h.text), h.repo.dir)
	report, err := LookAhead(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	markdown := rendered(t, report, FormatMarkdown)
	for _, want := range []string{
		"## vendor-sync drift: the upstream moved\n", "| " + h.bans[:12] + " | 2026-09-18 | ban \\| print @\u200bsomebody | pkg/validator.py |",
		"| pkg/validator.py | moved | validator.py |", "| banned_calls | print | added | looser |", "| banned_calls | getattr | added | in step |",
	} {
		if !strings.Contains(markdown, want) {
			t.Errorf("no %q in:\n%s", want, markdown)
		}
	}
	text := rendered(t, report, FormatText)
	if !strings.Contains(text, "fixture main: pinned "+h.pin+", head "+h.move) || !strings.HasSuffix(text, "the upstream moved\n") {
		t.Errorf("text:\n%s", text)
	}
	update, _, err := Update(t.Context(), cfg, "", true)
	if err != nil {
		t.Fatal(err)
	}
	if text = rendered(t, update, FormatText); !strings.Contains(text, "to do: ") || !strings.Contains(text, "wrote upstream.yaml\nwrote allowlist.rego\n") || !strings.Contains(text, h.pin+" -> "+h.move) {
		t.Errorf("text:\n%s", text)
	}
	if markdown = rendered(t, update, FormatMarkdown); !strings.Contains(markdown, "- [ ] add print to blocked_names") || !strings.Contains(markdown, "```diff\n--- a/allowlist.rego\n") {
		t.Errorf("Markdown:\n%s", markdown)
	}
}

func TestLineDiff(t *testing.T) {
	old, now := "a\nb\nc\nd\n", "a\nB\nc\nd\ne\n"
	want := "--- a/x\n+++ b/x\n@@ -2,1 +2,1 @@\n-b\n+B\n@@ -5,0 +5,1 @@\n+e\n"
	if got := lineDiff("x", old, now); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if lineDiff("x", old, old) != "" {
		t.Error("a difference of equals")
	}
}

func TestSetsThatAreNotEdited(t *testing.T) {
	for text, want := range map[string]string{
		"x := {\"a\"}":                     "there is no set of literals names",
		"names := {\n\t\"a\", # why\n}":    "a comment",
		"names := base | {\"a\"}":          "there is no set of literals names",
		"names := {`a`}":                   "a raw text",
		"names := {\"a\": 1, \"b\": {}}\n": "there is no set of literals names",
	} {
		if _, err := editSet(text, "names", []string{"b"}, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	got, err := editSet("names := {\"c\", \"a\"}\nother := {\"x\"}\n", "names", []string{"b"}, false)
	if want := "names := {\n\t\"a\", \"b\", \"c\",\n}\nother := {\"x\"}\n"; err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
}

func TestReplaceWritesWholeFiles(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"one", "two", "two"} {
		if err := Replace(dir, "f", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := Replace(dir+"/none", "f", nil); err == nil {
		t.Error("a folder that is not there")
	}
}

func TestStrictness(t *testing.T) {
	for text, want := range map[string]Strict{"": StrictNot, "hashes": StrictHashes, "all": StrictAll} {
		if got, err := ParseStrict(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if _, err := ParseStrict("some"); err == nil {
		t.Error("a strictness that is none")
	}
}
