package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestIndex runs the tests of runtime/index.py under the interpreter that the
// plugin is built with, or the newer one that PYTHON names, over the programs
// of the policy's corpus. Each is a sub-test.
func TestIndex(t *testing.T) {
	python := os.Getenv("PYTHON")
	if python == "" {
		var err error
		if python, err = filepath.Abs("../../.venv/bin/python"); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(python); err != nil {
			t.Fatalf("there is no %s: make build makes it, or PYTHON names a Python of 3.11 or newer", python)
		}
	}
	cmd := exec.Command(python, "-I", "-B", "testdata/index_check.py", "runtime", "../../policies/corpus", "../../policies/testdata/corpus")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	results := regexp.MustCompile(`(?m)^test_(\w+) \(.*\) \.\.\. (\w+)$`).FindAllStringSubmatch(out.String(), -1)
	if len(results) < 25 {
		t.Errorf("%d tests ran", len(results))
	}
	for _, result := range results {
		t.Run(result[1], func(t *testing.T) {
			if result[2] != "ok" {
				t.Errorf("%s", result[2])
			}
		})
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestSchemaIsThePolicys holds the schema that the plugin describes against
// the one that the policy is compiled with.
func TestSchemaIsThePolicys(t *testing.T) {
	ours, err := os.ReadFile("pyast-1.json")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile("../../policies/schemas/pyast-1.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(ours, theirs) {
		t.Error("pyast-1.json and policies/schemas/pyast-1.json differ: copy the latter")
	}
}
