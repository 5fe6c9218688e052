package library

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Files of a checkout that a library stands in.
const (
	executorDir  = "plugins/python-exec"
	entriesFile  = executorDir + "/libraries.yaml"
	wantedFile   = executorDir + "/requirements.in"
	lockFile     = executorDir + "/requirements.lock"
	buildScript  = executorDir + "/venv.sh"
	policiesDir  = "policies"
	listsFile    = policiesDir + "/allowlist.rego"
	profilesFile = policiesDir + "/profiles.yaml"
)

// Options say what is added.
type Options struct {
	Tree     string   // the checkout
	Name     string   // a distribution, as pip names it; ==VERSION may follow
	Modules  []string // that programs may import; none: the root and the public packages below it
	Denied   []string // paths to block beside those that are found
	Profiles []string // that may import it
	WarmUp   string   // Python that the zygote runs before it forks; empty: the imports
	Python   string   // the interpreter that the environment is made with; empty: that of the environment there is
	Say      func(format string, args ...any)
}

// Result is what was done.
type Result struct {
	Distribution string   `json:"distribution"`
	Version      string   `json:"version"`
	Locked       []string `json:"locked"`  // name==version that the lock has beside
	Modules      []string `json:"modules"` // that became importable
	Denied       []string `json:"denied"`  // paths that are blocked
	Failed       []string `json:"failed"`  // modules that cannot be imported, and why
	MemoryBytes  uint64   `json:"memory_bytes"`
	Loaded       int      `json:"loaded"` // modules that came into the interpreter
	Files        []string `json:"files"`  // that were changed
}

var nameForm = regexp.MustCompile(`^([A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?)(?:==([A-Za-z0-9][A-Za-z0-9.+!_-]{0,63}))?$`)

// Add makes a library one that programs may import. After an error all files are
// as they were.
func Add(ctx context.Context, o Options) (Result, error) {
	m := nameForm.FindStringSubmatch(o.Name)
	if m == nil {
		return Result{}, fmt.Errorf("%.80q is no name of a distribution", o.Name)
	}
	w := &work{o: o, name: normal(m[1]), before: map[string][]byte{}}
	if err := w.read(); err != nil {
		return Result{}, err
	}
	result, err := w.add(ctx)
	if err != nil {
		return Result{}, errors.Join(err, w.restore())
	}
	return result, nil
}

// work is one library on its way.
type work struct {
	o       Options
	name    string
	before  map[string][]byte // files as they were; nil: there was none
	entries []entry
	result  Result
}

// entry is a library in libraries.yaml.
type entry struct {
	Distribution string   `yaml:"distribution"`
	Roots        []string `yaml:"roots,flow"`
	WarmUp       string   `yaml:"warm_up,omitempty"`
	Modules      []string `yaml:"modules,omitempty"`
	Denied       []string `yaml:"denied,omitempty"`
}

func (w *work) path(file string) string { return filepath.Join(w.o.Tree, filepath.FromSlash(file)) }

func (w *work) read() error {
	for _, file := range []string{entriesFile, wantedFile, lockFile, listsFile, profilesFile} {
		text, err := os.ReadFile(w.path(file))
		if err != nil {
			return fmt.Errorf("%w: a library is added to a checkout; name it with --tree", err)
		}
		w.before[file] = text
	}
	if err := yaml.Load(w.before[entriesFile], &w.entries, yaml.WithKnownFields()); err != nil {
		return fmt.Errorf("read %s: %w", entriesFile, err)
	}
	if slices.ContainsFunc(w.entries, func(e entry) bool { return normal(e.Distribution) == w.name && len(e.Roots) > 0 }) {
		return fmt.Errorf("%s stands in %s already", w.name, entriesFile)
	}
	return nil
}

func (w *work) add(ctx context.Context) (Result, error) {
	w.o.Say("asking pip what %s needs", w.o.Name)
	more, err := w.resolve(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := w.lock(more); err != nil {
		return Result{}, err
	}
	w.o.Say("building the environment anew, beside the one in use")
	fresh := w.path(".venv.new")
	defer os.RemoveAll(fresh)
	if err := w.run(ctx, w.path(buildScript), fresh); err != nil {
		return Result{}, fmt.Errorf("build the environment: %w", err)
	}
	w.o.Say("looking at what it brings")
	e, err := w.survey(ctx, filepath.Join(fresh, "bin", "python"))
	if err != nil {
		return Result{}, err
	}
	if err := w.write(e); err != nil {
		return Result{}, err
	}
	return w.result, w.exchange(fresh)
}

// resolve asks pip, in an environment of its own, what the library needs beside
// what is locked.
func (w *work) resolve(ctx context.Context) ([]pin, error) {
	dir, err := os.MkdirTemp("", "sluice-library-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	held, told := filepath.Join(dir, "constraints.txt"), filepath.Join(dir, "report.json")
	if err := os.WriteFile(held, []byte(constraints(string(w.before[lockFile]))), 0o600); err != nil {
		return nil, err
	}
	if err := w.run(ctx, w.python(ctx), "-m", "venv", filepath.Join(dir, "venv")); err != nil {
		return nil, fmt.Errorf("make an environment for pip: %w", err)
	}
	err = w.run(ctx, filepath.Join(dir, "venv", "bin", "python"), "-m", "pip", "install", "--dry-run", "--ignore-installed", "--only-binary", ":all:",
		"--quiet", "--disable-pip-version-check", "--no-input", "--report", told, "-c", held, w.o.Name)
	if err != nil {
		return nil, fmt.Errorf("ask pip: %w", err)
	}
	raw, err := os.ReadFile(told)
	if err != nil {
		return nil, fmt.Errorf("ask pip: %w", err)
	}
	more, err := fresh(raw, string(w.before[lockFile]))
	if err != nil {
		return nil, err
	}
	for _, p := range more {
		w.result.Locked = append(w.result.Locked, p.Name+"=="+p.Version)
		if p.Name == w.name {
			w.result.Distribution, w.result.Version = p.Name, p.Version
		}
	}
	return more, nil
}

// python is the interpreter that environments are made with.
func (w *work) python(ctx context.Context) string {
	if w.o.Python != "" {
		return w.o.Python
	}
	out, err := exec.CommandContext(ctx, w.path(".venv/bin/python"), "-I", "-B", "-c", "import sys; print(getattr(sys, '_base_executable', sys.executable))").Output()
	if err != nil {
		return "python3"
	}
	return strings.TrimSpace(string(out))
}

// run runs a program of ours with the user's own environment: pip's index is the
// one that the user has set.
func (w *work) run(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // the checkout's own script, and its interpreter
	cmd.Env = append(os.Environ(), "PYTHON="+w.python(ctx))
	var told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &told, &told
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(told.String())
		return fmt.Errorf("%w: %s", err, text[max(0, len(text)-2000):])
	}
	return nil
}

func (w *work) lock(more []pin) error {
	if err := w.put(lockFile, extend(string(w.before[lockFile]), more, w.name)); err != nil {
		return err
	}
	return w.put(wantedFile, strings.TrimRight(string(w.before[wantedFile]), "\n")+"\n# Added by `gateway library add`.\n"+w.name+"\n")
}

// put writes a file; restore brings back what it held.
func (w *work) put(file, text string) error {
	if _, known := w.before[file]; !known {
		w.before[file] = nil
	}
	if err := os.MkdirAll(filepath.Dir(w.path(file)), 0o755); err != nil {
		return err
	}
	w.result.Files = append(w.result.Files, file)
	return os.WriteFile(w.path(file), []byte(text), 0o644) //nolint:gosec // a file of the checkout, for all to read
}

func (w *work) restore() error {
	var faults []error
	for _, file := range w.result.Files {
		if text := w.before[file]; text != nil {
			faults = append(faults, os.WriteFile(w.path(file), text, 0o644)) //nolint:gosec // as it was
		} else {
			faults = append(faults, os.Remove(w.path(file)))
		}
	}
	return errors.Join(faults...)
}

//go:embed survey.py
var surveyText string

// surveyAnswer is what survey.py tells. It comes from code of the library: what
// is no name of a module is not taken.
type surveyAnswer struct {
	Modules     []string          `json:"modules"`
	Failed      map[string]string `json:"failed"`
	Denied      []string          `json:"denied"`
	MemoryBytes uint64            `json:"memory_bytes"`
	Loaded      int               `json:"loaded"`
}

const maxSurvey = 8 << 20

func (w *work) survey(ctx context.Context, python string) (entry, error) {
	roots, err := w.roots(ctx, python)
	if err != nil {
		return entry{}, err
	}
	before := []string{}
	for _, e := range w.entries {
		before = append(before, e.Roots...)
	}
	raw, err := json.Marshal(map[string]any{"roots": roots, "before": before, "modules": w.o.Modules, "warm_up": w.o.WarmUp})
	if err != nil {
		return entry{}, err
	}
	out, err := w.ask(ctx, python, surveyText, raw)
	if err != nil {
		return entry{}, fmt.Errorf("look at the library: %w", err)
	}
	var answer surveyAnswer
	if err := json.Unmarshal(out, &answer); err != nil {
		return entry{}, fmt.Errorf("look at the library: %w", err)
	}
	return w.judge(roots, answer)
}

var dotted = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

func (w *work) judge(roots []string, a surveyAnswer) (entry, error) {
	odd := func(name string) bool { return len(name) > 200 || !dotted.MatchString(name) }
	modules, denied := slices.DeleteFunc(a.Modules, odd), slices.DeleteFunc(append(a.Denied, w.o.Denied...), odd)
	modules, refused, err := w.nameable(modules)
	if err != nil {
		return entry{}, err
	}
	if len(modules) == 0 {
		return entry{}, fmt.Errorf("none of its modules can be imported: %v", a.Failed)
	}
	slices.Sort(denied)
	e := entry{Distribution: w.name, Roots: roots, WarmUp: w.o.WarmUp, Modules: modules, Denied: slices.Compact(denied)}
	if e.WarmUp == "" {
		e.WarmUp = "import " + strings.Join(modules, ", ") + "\n"
	}
	w.result.Modules, w.result.Denied, w.result.MemoryBytes, w.result.Loaded = e.Modules, e.Denied, a.MemoryBytes, a.Loaded
	w.result.Failed = refused
	for _, name := range slices.Sorted(maps.Keys(a.Failed)) {
		w.result.Failed = append(w.result.Failed, name+": "+a.Failed[name])
	}
	return e, nil
}

// nameable leaves out modules of which a part has a name that no program may
// use as an attribute, and says so.
func (w *work) nameable(modules []string) (kept, refused []string, err error) {
	text := string(w.before[listsFile])
	var blocked []string
	for _, list := range []string{"blocked_attributes", "borrowed_attributes"} {
		begin, end, err := findList(text, list)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", listsFile, err)
		}
		blocked = append(blocked, entriesOf(text[begin:end])...)
	}
	for _, module := range modules {
		at := slices.IndexFunc(strings.Split(module, "."), func(part string) bool { return slices.Contains(blocked, part) })
		if at < 0 {
			kept = append(kept, module)
			continue
		}
		refused = append(refused, fmt.Sprintf("%s: %s is a blocked attribute of the policy", module, strings.Split(module, ".")[at]))
	}
	return kept, refused, nil
}

// roots are the import roots of the distribution.
func (w *work) roots(ctx context.Context, python string) ([]string, error) {
	out, err := w.ask(ctx, python, `import importlib.metadata as m, json, re, sys
name = json.load(sys.stdin)
same = lambda other: re.sub(r"[-_.]+", "-", other).lower() == name
print(json.dumps(sorted(root for root, of in m.packages_distributions().items() if any(map(same, of)) and not root.startswith("_"))))`, []byte(`"`+w.name+`"`))
	if err != nil {
		return nil, fmt.Errorf("ask for the library's roots: %w", err)
	}
	var roots []string
	if err := json.Unmarshal(out, &roots); err != nil {
		return nil, fmt.Errorf("ask for the library's roots: %w", err)
	}
	roots = slices.DeleteFunc(roots, func(root string) bool { return !dotted.MatchString(root) })
	if len(roots) == 0 {
		return nil, fmt.Errorf("%s has nothing to import", w.name)
	}
	return roots, nil
}

func (w *work) ask(ctx context.Context, python, program string, given []byte) ([]byte, error) {
	cmd := exec.CommandContext(ctx, python, "-I", "-B", "-c", program) //nolint:gosec // the environment that was just built
	cmd.Stdin, cmd.Dir = bytes.NewReader(given), "/"
	cmd.Env = []string{"LANG=C.UTF-8", "HOME=/tmp", "PATH=/usr/bin:/bin", "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1"}
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{to: &out, left: maxSurvey}, &limited{to: &told, left: 64 << 10}
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(told.String())
		return nil, fmt.Errorf("%w: %s", err, text[max(0, len(text)-1000):])
	}
	return out.Bytes(), nil
}

// limited takes what fits and drops the rest.
type limited struct {
	to   io.Writer
	left int
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	if _, err := l.to.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}
