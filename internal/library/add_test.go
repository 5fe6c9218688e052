package library

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/internal/policy"
)

// wheel writes a distribution that pip installs, and gives its digest.
func wheel(t *testing.T, dir, name, version string, files map[string]string) string {
	t.Helper()
	info := name + "-" + version + ".dist-info/"
	all := map[string]string{
		info + "METADATA": "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n",
		info + "WHEEL":    "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
	}
	for file, text := range files {
		all[file] = text
	}
	record := ""
	for file := range all {
		record += file + ",,\n"
	}
	all[info+"RECORD"] = record + info + "RECORD,,\n"
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for file, text := range all {
		w, err := z.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%s-py3-none-any.whl", name, version)), packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(packed.Bytes())
	return hex.EncodeToString(sum[:])
}

// checkout is a tree with one library, of distributions in a folder that pip is
// sent to by its own configuration.
func checkout(t *testing.T) (tree, digest string) {
	t.Helper()
	tree, wheels := t.TempDir(), t.TempDir()
	t.Setenv("PIP_NO_INDEX", "1")
	t.Setenv("PIP_FIND_LINKS", wheels)
	t.Setenv("PIP_CONFIG_FILE", os.DevNull)
	first := wheel(t, wheels, "basis", "1.0", map[string]string{"basis.py": "one = 1\n"})
	digest = wheel(t, wheels, "tinylib", "2.5", map[string]string{
		"tinylib/__init__.py":        "import os\nfrom . import shapes\ndef load_table(path): pass\ndef area(a, b): return a * b\n",
		"tinylib/shapes/__init__.py": "import sys\nside = 1\n", "tinylib/io/__init__.py": "", "tinylib/signal/__init__.py": "", "tinylib/tests/__init__.py": "",
	})
	if err := os.CopyFS(filepath.Join(tree, "policies"), os.DirFS("../../policies")); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("../../plugins/python-exec/venv.sh")
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		buildScript: string(script), wantedFile: "basis\n", lockFile: "basis==1.0 \\\n    --hash=sha256:" + first + "\n",
		entriesFile: "# kept\n- distribution: basis\n  roots: [basis]\n",
	} {
		path := filepath.Join(tree, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil { //nolint:gosec // one of them is a program
			t.Fatal(err)
		}
	}
	return tree, digest
}

func options(t *testing.T, tree, name string) Options {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal("python3 is not installed; the environment for programs is made with it")
	}
	return Options{Tree: tree, Name: name, Profiles: []string{"solve"}, Python: python, Say: func(string, ...any) {}}
}

// contents are the files of a tree that a library may change.
func contents(t *testing.T, tree string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range []string{"plugins", "policies"} {
		err := filepath.WalkDir(filepath.Join(tree, dir), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			all[path] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestAddMakesALibraryOneThatProgramsMayImport(t *testing.T) {
	tree, digest := checkout(t)
	result, err := Add(context.Background(), options(t, tree, "TinyLib"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(result.Modules, []string{"tinylib", "tinylib.shapes"}) || result.Version != "2.5" || result.MemoryBytes > 1<<30 {
		t.Errorf("result %+v", result)
	}
	for _, want := range []string{"tinylib.load_table", "tinylib.os", "tinylib.shapes.sys"} {
		if !slices.Contains(result.Denied, want) {
			t.Errorf("%s is not blocked: %q", want, result.Denied)
		}
	}
	if !strings.Contains(strings.Join(result.Failed, " "), "tinylib.signal") {
		t.Errorf("a module whose name is a blocked attribute is not left out: %q", result.Failed)
	}
	for file, wants := range map[string][]string{
		lockFile:     {"tinylib==2.5 \\\n    --hash=sha256:" + digest, "basis==1.0"},
		wantedFile:   {"basis", "tinylib"},
		entriesFile:  {"# kept", "- distribution: tinylib", "roots: [tinylib]"},
		listsFile:    {`"tinylib", "tinylib.shapes",`, `"tinylib.load_table",`},
		profilesFile: {"        - tinylib\n        - tinylib.shapes\n"},
		"policies/corpus/allow/library_tinylib.py": {"# profile: solve\nimport tinylib\nimport tinylib.shapes\n"},
		"policies/corpus/deny/library_tinylib.py":  {"# expect: blocked-path 3; profile: solve\nimport tinylib\nprint(tinylib."},
	} {
		text, err := os.ReadFile(filepath.Join(tree, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %q", file, want)
			}
		}
		if strings.Contains(string(text), "file:/") || strings.Contains(string(text), os.TempDir()) {
			t.Errorf("%s names where the files are from", file)
		}
	}
	if out, err := exec.Command(filepath.Join(tree, ".venv", "bin", "python"), "-I", "-B", "-c", "import basis, tinylib; print(tinylib.area(2, 3))").Output(); err != nil || string(out) != "6\n" {
		t.Errorf("the environment: %q, %v", out, err)
	}
	if _, err := policy.Load(context.Background(), policy.Config{FS: os.DirFS(filepath.Join(tree, "policies")), SkipCorpus: true}); err != nil {
		t.Errorf("the policy does not load any more: %v", err)
	}
	if _, err := Add(context.Background(), options(t, tree, "tinylib")); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a second time: %v", err)
	}
}

func TestWhatFailsChangesNothing(t *testing.T) {
	tree, _ := checkout(t)
	before := contents(t, tree)
	for name, change := range map[string]func(*Options){
		"a library that is not there": func(o *Options) { o.Name = "nothing-of-that-name" },
		"no name":                     func(o *Options) { o.Name = "--index-url=x" },
		"no checkout":                 func(o *Options) { o.Tree = t.TempDir() },
		"a warm-up that fails":        func(o *Options) { o.WarmUp = "1 / 0" },
	} {
		o := options(t, tree, "tinylib")
		change(&o)
		if _, err := Add(context.Background(), o); err == nil {
			t.Errorf("%s: no error", name)
		}
		after := contents(t, tree)
		if len(after) != len(before) {
			t.Fatalf("%s: %d files, before %d", name, len(after), len(before))
		}
		for file, text := range before {
			if after[file] != text {
				t.Fatalf("%s: %s was changed", name, file)
			}
		}
	}
}

func TestLists(t *testing.T) {
	const text = "package p\n\nlist := {\n\t\"a\", \"b\",\n\t\"c\",\n}\n\nother := {\n\t\"b\",\n}\n"
	more, err := addToList(text, "list", []string{"c", "d", strings.Repeat("e", 90), "f"})
	if err != nil || !strings.Contains(more, "\t\"c\",\n\t\"d\", \""+strings.Repeat("e", 90)+"\",\n\t\"f\",\n}\n\nother") {
		t.Errorf("%v\n%s", err, more)
	}
	less, err := takeFromList(text, "list", []string{"b", "c"})
	if err != nil || less != "package p\n\nlist := {\n\t\"a\",\n}\n\nother := {\n\t\"b\",\n}\n" {
		t.Errorf("%v\n%s", err, less)
	}
	if _, err := addToList(text, "lis", nil); err == nil {
		t.Error("a list that is not there is no error")
	}
}

func TestProfilesThatMayNotImport(t *testing.T) {
	const text = "# kept\nsolve:\n  rules: {}\nheir:\n  extends: tool\ntool:\n  lists:\n    allowed_imports:\n      remove:\n        - abc # why\n    other:\n      add: [x]\n"
	got, err := keepFrom(text, []string{"m", "m.n"}, []string{"solve"})
	if err != nil || !strings.Contains(got, "        - abc # why\n        - m\n        - m.n\n    other:") || strings.Count(got, "- m\n") != 1 {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := keepFrom("solve: {}\nstrict: {}\n", []string{"m"}, []string{"solve"}); err == nil || !strings.Contains(err.Error(), "the profile strict") {
		t.Errorf("error %v", err)
	}
}

func TestDigestsOfOlderPip(t *testing.T) {
	sum := strings.Repeat("a", 64)
	for archive, want := range map[string]bool{
		`"hashes":{"sha256":"` + sum + `"}`: true, `"hash":"sha256=` + sum + `"`: true, `"hash":"md5=` + sum + `"`: false, ``: false,
	} {
		list, err := fresh([]byte(`{"install":[{"metadata":{"name":"x","version":"1"},"download_info":{"archive_info":{`+archive+`}}}]}`), "")
		if got := err == nil && len(list) == 1 && list[0].Hashes[0] == sum; got != want {
			t.Errorf("%s: %v, %v", archive, list, err)
		}
	}
}

func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"install":[{"metadata":{"name":"X_y","version":"1"},"download_info":{"url":"file:///x","archive_info":{"hashes":{"sha256":"` + strings.Repeat("a", 64) + `"}}}}]}`))
	f.Add([]byte(`{"install":[{}]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := fresh(raw, "basis==1.0\n")
		if err != nil {
			return
		}
		for _, p := range list {
			if strings.ContainsAny(p.Version, " \n\\") || !digestForm(p.Hashes) {
				t.Errorf("%+v is taken", p)
			}
		}
	})
}

func digestForm(hashes []string) bool {
	return len(hashes) == 1 && len(hashes[0]) == 64
}
