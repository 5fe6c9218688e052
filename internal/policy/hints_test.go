package policy

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// leastHints of mostHints programs must pass at the first rewrite.
const (
	mostHints  = 40
	leastHints = 38
)

// Ordinary programs that the policy refuses, and what they become when somebody
// does what the hint says, once: the rewrite passes, and it runs.
func TestHintsWork(t *testing.T) {
	s, python := shipped(t)
	files, err := filepath.Glob("testdata/hints/*.txtar")
	if err != nil || len(files) < mostHints {
		t.Fatalf("%d programs, %v", len(files), err)
	}
	worked := 0
	var runnable []string
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		profile, hint := headings(t, file, string(archive.Comment))
		refused := decide(t, s, ask(t, s, python, profile, archive.Files[0].Data))
		if refused.Allow {
			t.Errorf("%s: the first program is allowed: it tests nothing", file)
			continue
		}
		named := ""
		for _, v := range refused.Violations {
			named += v.Hint + "\n"
		}
		again := decide(t, s, ask(t, s, python, profile, archive.Files[1].Data))
		switch {
		case !strings.Contains(named, hint):
			t.Errorf("%s: no hint names %q:\n%s", file, hint, named)
		case !again.Allow:
			t.Errorf("%s: the rewrite is refused: %+v", file, again.Violations)
		default:
			worked++
			runnable = append(runnable, string(archive.Files[1].Data))
		}
	}
	t.Logf("%d of %d pass at the first rewrite", worked, len(files))
	if worked < leastHints*len(files)/mostHints {
		t.Errorf("%d of %d pass at the first rewrite", worked, len(files))
	}
	run(t, runnable)
}

// headings reads "profile: NAME" and "hint: words of the hint".
func headings(t *testing.T, file, text string) (profile, hint string) {
	t.Helper()
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "profile":
			profile = value
		case "hint":
			hint = value
		}
	}
	if profile == "" || hint == "" {
		t.Fatalf("%s has no profile or no hint", file)
	}
	return profile, hint
}

// run runs programs one after the other in one interpreter with the libraries.
func run(t *testing.T, programs []string) {
	t.Helper()
	const runner = `import sys, plotly.graph_objects as go
go.Figure.show = lambda *a, **k: None
for i, text in enumerate(sys.stdin.read().split("\0")):
    exec(compile(text, "program %d" % i, "exec"), {"__name__": "__main__"})`
	cmd := exec.Command(interpreter, "-I", "-B", "-c", runner)
	cmd.Stdin = strings.NewReader(strings.Join(programs, "\x00"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1")
	if err := cmd.Run(); err != nil {
		t.Errorf("a rewrite does not run: %v\n%s", err, out.String())
	}
}
