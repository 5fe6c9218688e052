//go:build !race

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/internal/audit"
	"github.com/sluice-gateway/sluice/internal/policy/workbench"
)

// many is how many programs are compared: a few, or for `make replay-speed` what
// TEST_REPLAY says.
func many(t *testing.T) int {
	t.Helper()
	text := os.Getenv("TEST_REPLAY")
	if text == "" {
		return 40
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 40 {
		t.Fatalf("TEST_REPLAY is %q, and not a number from 40", text)
	}
	return n
}

// TestReplayOfManyPrograms: programs that all differ, by a policy that refuses one name more
// and one fewer than the one that judged them: every count is right. With
// TEST_REPLAY it tells the time, and asks `diff` too. (Not under the race
// detector: nothing here is this process's own.)
func TestReplayOfManyPrograms(t *testing.T) {
	n, root, dir := many(t), repository(t), t.TempDir()
	changed := changedPolicies(t, root, filepath.Join(dir, "changed"))
	programs, log := filepath.Join(dir, "programs"), filepath.Join(dir, "decisions.jsonl")
	if err := os.Mkdir(programs, 0o755); err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	for i := range n {
		code := manyth(t, root, i)
		lines.Write(decided(t, i, code, i%20 != newlyAllowed))
		if err := os.WriteFile(filepath.Join(programs, fmt.Sprintf("%05d.py", i)), []byte(code), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(log, lines.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	got, took := compared(t, root, "replay", log, "--policy-dir", changed)
	each := n / 20
	want := map[workbench.Outcome]int{workbench.NewlyRefused: each, workbench.NewlyAllowed: each, workbench.Same: n - 2*each}
	for outcome, count := range got.Counts {
		if count != want[outcome] {
			t.Errorf("replay: %s: %d, not %d", outcome, count, want[outcome])
		}
	}
	if tally := got.Rules["blocked-path"]; got.Programs != n || got.Callers["b"].Cases != n/2 || tally.NewlyRefused != each || tally.NewlyAllowed != each {
		t.Errorf("replay: %d programs, caller b %+v, blocked-path %+v", got.Programs, got.Callers["b"], tally)
	}
	t.Logf("replay: %d decisions on %d programs in %.1f s: %v", got.Cases, got.Programs, took.Seconds(), got.Counts)
	if os.Getenv("TEST_REPLAY") == "" {
		return
	}
	got, took = compared(t, root, "diff", "@", changed, "--programs", programs)
	counts := map[workbench.Outcome]int{}
	for _, d := range got.Differences {
		if strings.HasPrefix(d.Name, programs) {
			counts[d.Outcome]++
		}
	}
	if counts[workbench.NewlyRefused] != 2*each || counts[workbench.NewlyAllowed] != 2*each || len(counts) != 2 {
		t.Errorf("diff: %v, not %d each, in two profiles", counts, 2*each)
	}
	t.Logf("diff: %d decisions on %d programs, the corpora's among them, in %.1f s: %v", got.Cases, got.Programs, took.Seconds(), got.Counts)
}

// The programs of twenty that the changed policy refuses, and allows.
const (
	newlyRefused = 7
	newlyAllowed = 13
)

// manyth is the i-th of many programs: no two are alike.
func manyth(t *testing.T, root string, i int) string {
	t.Helper()
	switch i % 20 {
	case newlyRefused:
		return fmt.Sprintf("import numpy as np\n\nnp.random.seed(%d)\nprint(np.random.rand())\n", i)
	case newlyAllowed:
		return fmt.Sprintf("import numpy as np\n\nprint(np.load('t%d.npy'))\n", i)
	}
	bodies := []string{
		"internal/policy/testdata/python/fifty.py", "bench/programs/calculus.py", "bench/programs/linalg.py", "bench/programs/figure.py",
	}
	body, err := os.ReadFile(filepath.Join(root, bodies[i%len(bodies)]))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s\n\ndef work_%d(size, factor=%d):\n    return [k * factor for k in range(size) if k %% 3 == %d]\n\n\nprint(work_%d(%d))\n", body, i, i%7, i%3, i, i)
}

// decided is a line of a decision log about code.
func decided(t *testing.T, i int, code string, allow bool) []byte {
	t.Helper()
	sum := sha256.Sum256([]byte(code))
	event := audit.Event{
		DecisionID: fmt.Sprintf("d_%016x", i), Timestamp: time.Unix(int64(i), 0).UTC(),
		Input: &audit.Input{
			Language: "python", Tool: "python", Profile: "solve", Caller: []string{"a", "b"}[i%2],
			Code: audit.Code{SHA256: hex.EncodeToString(sum[:]), Bytes: len(code), Text: &code},
		},
		Result: &audit.Result{Allow: allow, Violations: []audit.Violation{}},
	}
	if !allow {
		event.Result.Violations = []audit.Violation{{Rule: "blocked-path", Level: "error", Line: 3, Column: 7, EndLine: 3, EndColumn: 14}}
	}
	line, err := event.Line()
	if err != nil {
		t.Fatal(err)
	}
	return append(line, '\n')
}

// changedPolicies is the shipped policy with one blocked name more and one fewer.
func changedPolicies(t *testing.T, root, to string) string {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(filepath.Join(root, "policies"))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(to, "allowlist.rego")
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(body)
	for old, with := range map[string]string{"blocked_paths := {\n": "blocked_paths := {\n\t\"numpy.random.seed\",\n", `"numpy.load", `: ""} {
		if strings.Count(text, old) != 1 {
			t.Fatalf("allowlist.rego does not hold %q once", old)
		}
		text = strings.Replace(text, old, with, 1)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return to
}

// compared runs a command that compares and must find something newly allowed.
func compared(t *testing.T, root, command string, args ...string) (found comparedJSON, took time.Duration) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "gateway", append([]string{"policy", command, "--output", "json"}, args...)...)
	cmd.Dir = root
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != exitFailed {
		t.Fatalf("%s: %v, not status %d\n%s", command, err, exitFailed, stderr.String())
	}
	took = time.Since(began)
	if err := json.Unmarshal(stdout.Bytes(), &found); err != nil {
		t.Fatal(err)
	}
	return found, took
}
