package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// libraryVariable lets TestAddingALibraryDocument run: it installs SciPy.
const libraryVariable = "TEST_LIBRARY"

// TestAddingALibraryDocument runs the document's commands in a copy of the
// checkout, and wants the lines that stand under them.
func TestAddingALibraryDocument(t *testing.T) {
	found := blocks(t, "docs/adding-a-library.md")
	programs, dir := []string{"root.py", "plot.py"}, t.TempDir()
	if os.Getenv(libraryVariable) != "" {
		copyCheckout(t, dir)
	}
	for i, b := range found {
		switch b.language {
		case "python":
			must(os.WriteFile(filepath.Join(dir, programs[0]), []byte(b.text), 0o600))
			programs = programs[1:]
		case "sh":
			added := strings.Contains(b.text, "library add") || strings.Contains(b.text, "root.py")
			if os.Getenv(libraryVariable) == "" && added {
				continue // the light form runs what needs no library
			}
			out := inCheckout(t, dir, b.text)
			t.Logf("%s\n%s", b.text, out)
			if i+1 < len(found) && found[i+1].language == "text" {
				for want := range strings.Lines(found[i+1].text) {
					if !strings.Contains(out, strings.TrimSpace(want)) {
						t.Errorf("%s printed\n%s\nand not %q", b.text, out, want)
					}
				}
			}
		}
	}
}

// copyCheckout copies the sources, the environment and the programs.
func copyCheckout(t *testing.T, to string) {
	t.Helper()
	for _, name := range []string{"bin", ".venv", "cmd", "executor", "internal", "plugins", "policies", "vendor-sync", "go.mod", "go.sum", "Makefile", "config.yaml"} {
		if out, err := exec.CommandContext(t.Context(), "cp", "-a", filepath.Join(repository(t), name), to).CombinedOutput(); err != nil {
			t.Fatalf("copy the checkout: %v: %s", err, out)
		}
	}
}

func inCheckout(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = dir
	config := filepath.Join(dir, "config.yaml")
	if _, err := os.Stat(config); err != nil {
		config = filepath.Join(repository(t), "config.yaml")
	}
	cmd.Env = append(slices.Clone(os.Environ()), "SLUICE_CONFIG="+config)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}
