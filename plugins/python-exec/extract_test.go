package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// extracted runs the sub-command on a text.
func extracted(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, faults bytes.Buffer
	code = extract(args, strings.NewReader(stdin), &out, &faults)
	return code, out.String(), faults.String()
}

func TestExtract(t *testing.T) {
	python := filepath.Join("..", "..", ".venv", "bin", "python")
	if _, err := os.Stat(python); err != nil {
		t.Fatalf("%s is not built: run make build first", python)
	}
	file := filepath.Join(t.TempDir(), "f.py")
	if err := os.WriteFile(file, []byte("X = {'a'}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		stdin          string
		args           []string
		code           int
		stdout, stderr string
	}{
		"standard input":  {"X = {'b', 'a'}", []string{"--python", python, "-"}, 0, `"entries": ["a", "b"]`, ""},
		"without a name":  {"X = {'b', 'a'}", []string{"--python", python}, 0, `"entries": ["a", "b"]`, ""},
		"a file":          {"", []string{"--python", python, file}, 0, `"entries": ["a"]`, ""},
		"a syntax error":  {"X = {", []string{"--python", python}, 0, `{"error": {"message": "the file does not parse`, ""},
		"too large":       {strings.Repeat("#", extractBytes+1), []string{"--python", python}, 0, `larger than 1048576 bytes`, ""},
		"no file":         {"", []string{"--python", python, file + "x"}, 1, "", "read the file"},
		"no interpreter":  {"", []string{"--python", file + "x"}, 1, "", "find the interpreter"},
		"no program":      {"", []string{"--python", file}, 1, "", "is not a program"},
		"another program": {"", []string{"--python", "/bin/false"}, 1, "", "parse the file"},
		"an unknown flag": {"", []string{"--nothing"}, 2, "", "nothing"},
		"too many files":  {"", []string{"a", "b"}, 2, "", "one FILE"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := extracted(t, tt.stdin, tt.args...)
			if code != tt.code || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("status %d\nstdout: %s\nstderr: %s", code, stdout, stderr)
			}
		})
	}
}

func TestIsExtract(t *testing.T) {
	if isExtract(nil) || isExtract([]string{"--extract"}) || !isExtract([]string{"extract", "-"}) {
		t.Error("which arguments ask for an extraction")
	}
}

// What a program writes is bounded.
func TestBoundedOutput(t *testing.T) {
	var into bytes.Buffer
	b := &bounded{&into, 3}
	if _, err := b.Write([]byte("abc")); err != nil {
		t.Error(err)
	}
	if _, err := b.Write([]byte("d")); err == nil || into.String() != "abc" {
		t.Errorf("%q, %v", into.String(), err)
	}
}
