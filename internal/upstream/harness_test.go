package upstream

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sluice-gateway/sluice/policies"
)

// today is the day of every test: exceptions of the shipped pin hold then.
var today = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// shipped is a copy of the policy folder that tests may change, without its
// corpus.
func shipped(t testing.TB) fstest.MapFS {
	t.Helper()
	folder := fstest.MapFS{}
	err := fs.WalkDir(policies.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(name, "corpus/") {
			return err
		}
		text, err := fs.ReadFile(policies.FS(), name)
		folder[name] = &fstest.MapFile{Data: text, Mode: 0o644}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// replace changes one text of a file, which must be there.
func replace(t testing.TB, folder fstest.MapFS, name, old, now string) {
	t.Helper()
	text := string(folder[name].Data)
	if !strings.Contains(text, old) {
		t.Fatalf("%s does not hold %q", name, old)
	}
	folder[name] = &fstest.MapFile{Data: []byte(strings.Replace(text, old, now, 1)), Mode: 0o644}
}

// holding names the file of package rules.python that holds a text.
func holding(t testing.TB, folder fstest.MapFS, text string) string {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(folder)) {
		body := string(folder[name].Data)
		if strings.HasSuffix(name, ".rego") && !strings.HasSuffix(name, "_test.rego") && strings.Contains(body, "\npackage rules.python\n") && strings.Contains(body, text) {
			return name
		}
	}
	t.Fatalf("no file of the rules holds %q", text)
	return ""
}

// cutEntry takes an entry out of a list of the policy.
func cutEntry(t testing.TB, folder fstest.MapFS, list, entry string) {
	t.Helper()
	text, err := editSet(string(folder["allowlist.rego"].Data), list, []string{entry}, true)
	if err != nil {
		t.Fatal(err)
	}
	if text == string(folder["allowlist.rego"].Data) {
		t.Fatalf("%s does not change without %s", list, entry)
	}
	folder["allowlist.rego"] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
}

func addEntry(t testing.TB, folder fstest.MapFS, list, entry string) {
	t.Helper()
	text, err := editSet(string(folder["allowlist.rego"].Data), list, []string{entry}, false)
	if err != nil {
		t.Fatal(err)
	}
	folder["allowlist.rego"] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
}

func check(t testing.TB, folder fs.FS, strict Strict) *Report {
	t.Helper()
	report, err := Check(t.Context(), Config{Folder: folder, Now: today, Strict: strict})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// only lists the findings of a kind, as "upstream profile list entry when".
func only(r *Report, kind string) []string {
	var found []string
	for _, f := range r.Findings {
		if f.Kind == kind {
			found = append(found, strings.TrimSpace(strings.Join([]string{f.Upstream, f.Profile, f.List, f.Entry, f.When}, " ")))
		}
	}
	return found
}

func shows(t testing.TB, r *Report, kind, level, text string) {
	t.Helper()
	for _, f := range r.Findings {
		if f.Kind == kind && f.Level == level && strings.Contains(f.Message, text) {
			return
		}
	}
	t.Errorf("no finding %s %s with %q in:\n%s", level, kind, text, r.text())
}

func wantExit(t testing.TB, r *Report, exit int) {
	t.Helper()
	if r.Exit != exit || r.InStep != (exit == ExitInStep) {
		t.Errorf("exit %d, in step %t, want exit %d:\n%s", r.Exit, r.InStep, exit, r.text())
	}
}

// parser is the real one.
func parser(t testing.TB) PythonExec {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	p := PythonExec{Command: filepath.Join(root, "bin", "plugins", "python-exec"), Python: filepath.Join(root, ".venv", "bin", "python")}
	for _, built := range []string{p.Command, p.Python} {
		if _, err := os.Stat(built); err != nil {
			t.Fatalf("%s is not built: run make build first", built)
		}
	}
	return p
}

// upstreamRepo is a real repository, made by git itself.
type upstreamRepo struct {
	t    *testing.T
	dir  string
	days int
}

func newRepo(t *testing.T) *upstreamRepo {
	t.Helper()
	r := &upstreamRepo{t: t, dir: filepath.Join(t.TempDir(), "upstream")}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.git("init", "-q", "-b", "main")
	r.git("config", "http.receivepack", "false")
	return r
}

func (r *upstreamRepo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	date := fmt.Sprintf("2026-09-%02dT12:00:00Z", 14+r.days)
	cmd.Dir = r.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date,
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// write sets a file; the folders are made.
func (r *upstreamRepo) write(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// commit commits everything, one day after the one before.
func (r *upstreamRepo) commit(message string) string {
	r.t.Helper()
	r.days++
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", message)
	return r.git("rev-parse", "HEAD")
}

// bare is a bare clone of the repository as it is now.
func (r *upstreamRepo) bare() string {
	r.t.Helper()
	dir := filepath.Join(r.t.TempDir(), "bare.git")
	r.git("clone", "-q", "--bare", r.dir, dir)
	return dir
}

// serve serves a bare repository over HTTP by git's own http-backend.
func serve(t *testing.T, bare string) string {
	t.Helper()
	where, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(where)), "git-http-backend"), Root: "/",
		Env:    []string{"GIT_PROJECT_ROOT=" + filepath.Dir(bare), "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
		Stderr: &bytes.Buffer{},
	}
	server := httptest.NewServer(backend)
	t.Cleanup(server.Close)
	return server.URL + "/" + filepath.Base(bare)
}

// validator is an upstream's file with these sets.
func validator(sets map[string][]string) string {
	var out strings.Builder
	out.WriteString("\"\"\"Checks programs.\"\"\"\nimport ast\n\n")
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		out.WriteString(name + " = frozenset({\n")
		for _, e := range sets[name] {
			fmt.Fprintf(&out, "    %q,\n", e)
		}
		out.WriteString("})\n\n")
	}
	out.WriteString(`
def check(tree):
    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.AsyncFunctionDef)):
            raise ValueError("blocked")
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            raise ValueError("blocked")
`)
	return out.String()
}

const validatorPath = "pkg/validator.py"

func validatorSets() map[string][]string {
	return map[string][]string{
		"ALLOWED_IMPORTS": {"bisect", "cmath", "collections", "copy", "decimal", "fractions", "functools", "heapq", "itertools", "json", "math", "mpmath", "numbers", "numpy", "operator", "plotly", "random", "re", "statistics", "string", "sympy", "textwrap", "typing", "unicodedata"},
		"BANNED_CALLS":    {"compile", "eval", "exec", "open"},
	}
}

// pinned is the shipped policy, following the repository at a commit.
func pinned(t testing.TB, commit, text string) fstest.MapFS {
	t.Helper()
	folder := shipped(t)
	sets := validatorSets()
	pin := fmt.Sprintf(`# The pin.
upstreams:
- name: fixture
  repository: null
  branch: main
  profiles: [tool]
  commit: %s # the pinned one
  date: 2026-09-15
  files:
  - path: %s
    sha256: %s
    rules:
      allowed_imports: [%s]
      banned_calls: [%s]
      denied_nodes: [AsyncFunctionDef, ClassDef]
      private_attributes: true
exceptions:
- upstream: fixture
  list: private_attributes
  entry: __name__
  reason: a text
  review_by: 2027-06-01
`, commit, validatorPath, digestOf([]byte(text)), strings.Join(sets["ALLOWED_IMPORTS"], ", "), strings.Join(sets["BANNED_CALLS"], ", "))
	folder[PinFile] = &fstest.MapFile{Data: []byte(pin), Mode: 0o644}
	annotate(t, folder, "fixture", commit)
	return folder
}

// annotate makes the rules say that they follow one pin.
func annotate(t testing.TB, folder fstest.MapFS, name, mark string) {
	t.Helper()
	text := string(folder["allowlist.rego"].Data)
	from, to := strings.Index(text, "#   upstream:\n"), strings.Index(text, "package rules.python")
	if from < 0 || to < from {
		t.Fatal("the lists have no annotation")
	}
	text = text[:from] + "#   upstream:\n#     " + name + ": " + mark + "\n" + text[to:]
	folder["allowlist.rego"] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
}

// with opens a source for a command on folder.
func with(t testing.TB, folder fs.FS, source string) Config {
	t.Helper()
	s, err := Open(context.Background(), source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return Config{Folder: folder, Now: today, Source: s, Extract: parser(t)}
}

// long marks a test that loads the policy again and again on one goroutine: with
// -short, as the race detector runs, once is enough.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("loads the same policy many times over on one goroutine; make test runs it")
	}
}
