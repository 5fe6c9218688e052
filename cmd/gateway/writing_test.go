package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWritingAPlugin runs the page's commands, in their order, as a reader would.
func TestWritingAPlugin(t *testing.T) {
	notTwice(t)
	dir := t.TempDir()
	t.Setenv("SLUICE", repository(t))
	t.Setenv("SLUICE_CONFIG", "")
	var said []string
	for _, b := range blocks(t, "docs/writing-a-plugin.md") {
		if b.language == "sh" {
			said = append(said, shell(t, dir, b.text))
		}
	}
	if len(said) != 4 || !strings.Contains(said[1], "45 passed, 0 failed, 0 skipped") || !strings.Contains(said[3], "2 tests, 0 failed") || !strings.HasSuffix(said[3], "passed\nhi\n") {
		t.Errorf("the page's commands said %q", said)
	}
	if _, err := os.Stat(filepath.Join(dir, "plugin-toy", "policies", "toy.rego")); err != nil {
		t.Error(err)
	}
	if status, _, errs := gatewayCommand(t, "plugin", "new", "Toy!"); status != exitUsage || !strings.Contains(errs, "no name for a language") {
		t.Errorf("status %d: %s", status, errs)
	}
	if status, _, errs := gatewayCommand(t, "plugin", "new", "toy", "--tree", repository(t), "--dir", filepath.Join(dir, "plugin-toy")); status != exitFailed || !strings.Contains(errs, "file exists") {
		t.Errorf("over another: status %d: %s", status, errs)
	}
}

// TestSkeletonsNeedTheSources: a module that cannot be resolved, or a go.mod with
// a line too many, is told before anything is written.
func TestSkeletonsNeedTheSources(t *testing.T) {
	odd := filepath.Join(t.TempDir(), "a b")
	for tree, want := range map[string]string{
		"":                         "--lang go needs --tree FOLDER",
		"/x\n)":                    "name a link",
		odd:                        "name a link",
		filepath.Dir(odd):          "these are not Sluice's sources",
		repository(t) + "/$(HOME)": "name a link",
	} {
		dir := filepath.Join(t.TempDir(), "plugin")
		if status, _, errs := gatewayCommand(t, "plugin", "new", "toy", "--tree", tree, "--dir", dir); status != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("--tree %q: status %d: %s", tree, status, errs)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("--tree %q: it was written all the same", tree)
		}
	}
}

// TestPythonSkeletonIsTheExample: what is proved of one holds for the other.
func TestPythonSkeletonIsTheExample(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plugin-rpn")
	if status, _, errs := gatewayCommand(t, "plugin", "new", "rpn", "--lang", "python", "--dir", dir); status != exitOK {
		t.Fatal(errs)
	}
	for _, name := range []string{"plugin.py", "requirements.lock"} {
		made, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		example, err := os.ReadFile(filepath.Join(repository(t), "examples", "plugin-python-native", name))
		if err != nil {
			t.Fatal(err)
		}
		_, made, _ = bytes.Cut(made, []byte("\n")) // the first line tells of the language
		_, example, _ = bytes.Cut(example, []byte("\n"))
		if !bytes.Equal(made, example) {
			t.Errorf("%s of the skeleton differs from the example", name)
		}
	}
}
