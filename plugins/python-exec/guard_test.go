package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGuard runs the tests of runtime/guard.py and runtime/fence.py, with the
// real libraries, under the interpreter that the plugin is built with.
func TestGuard(t *testing.T) {
	python, err := filepath.Abs("../../.venv/bin/python")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(python); err != nil {
		t.Fatalf("there is no %s: make build makes it", python)
	}
	out, err := exec.Command(python, "-I", "-B", "testdata/guard_check.py", "runtime").CombinedOutput()
	if err != nil || strings.Count(string(out), "... ok") < 7 {
		t.Errorf("%v\n%s", err, out)
	}
}
