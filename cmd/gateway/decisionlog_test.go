package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/internal/audit"
	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/policy"
)

// TestDecisionLogDocument runs the document's commands on a log that holds what
// they ask for, and its mask on the events of that log.
func TestDecisionLogDocument(t *testing.T) {
	dir := t.TempDir()
	record(t, filepath.Join(dir, "decisions.jsonl"), nil)
	commands := 0
	for _, b := range blocks(t, "docs/decision-log.md") {
		switch b.language {
		case "sh":
			for line := range strings.Lines(b.text) {
				commands++
				if out := shellGateway(t, dir, line); strings.Count(out, "blocked-import") != 1 {
					t.Errorf("%s printed %q, want the one event", strings.TrimSpace(line), out)
				}
			}
		case "rego":
			masked := filepath.Join(dir, "masked.jsonl")
			record(t, masked, maskOf(t, b.text))
			raw, err := os.ReadFile(masked)
			if err != nil || !bytes.Contains(raw, []byte(`"caller":"***"`)) || bytes.Contains(raw, []byte("import os")) || !bytes.Contains(raw, []byte(`"erased":["/input/code/text"]`)) {
				t.Errorf("masked: %s, %v", raw, err)
			}
		}
	}
	if commands == 0 {
		t.Error("the document has no command")
	}
}

// record writes a refused program of the worker's.
func record(t *testing.T, path string, mask func(map[string]any) error) {
	t.Helper()
	j, err := audit.Open(audit.Config{File: path, Log: slog.New(slog.DiscardHandler), Mask: mask})
	if err != nil {
		t.Fatal(err)
	}
	j.Record(gateway.Entry{
		Time: time.Now(), RequestID: "r", Caller: "worker", Route: gateway.RouteSolve, Tool: "python", Language: "python", Status: gateway.Rejected, Code: []byte("import os"),
		Decision: &gateway.Decision{ID: "d", Profile: "solve", Violations: []gateway.Violation{{Rule: "blocked-import", Level: "error", Line: 1, Column: 1}}},
	})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// maskOf puts a mask beside a policy that admits everything.
func maskOf(t *testing.T, rules string) func(map[string]any) error {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(repository(t), "testdata", "policies-admit-all"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "log.rego"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := policy.Load(context.Background(), policy.Config{FS: os.DirFS(dir), SkipCorpus: true})
	if err != nil {
		t.Fatal(err)
	}
	return store.Mask
}

// shellGateway runs one line of a document, which begins with "gateway".
func shellGateway(t *testing.T, dir, line string) string {
	t.Helper()
	args := strings.Fields(line)
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SLUICE_CONFIG=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", strings.TrimSpace(line), err, stderr.String())
	}
	return string(out)
}
