package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sluice-gateway/sluice/internal/auth"
)

// secret sets a variable to a file's text without its end of line: secret NAME
// FILE.
func secret(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: secret NAME FILE")
	}
	ts.Setenv(args[0], strings.TrimSuffix(ts.ReadFile(args[1]), "\n"))
}

// fileMode wants a file's mode: mode 0600 FILE.
func fileMode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode OCTAL FILE")
	}
	want, err := strconv.ParseUint(args[0], 8, 32)
	ts.Check(err)
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if info.Mode().Perm() != os.FileMode(want) {
		ts.Fatalf("%s has mode %04o, want %s", args[1], info.Mode().Perm(), args[0])
	}
}

// TestTokensDocument runs the commands of docs/tokens.md, and reads its file.
func TestTokensDocument(t *testing.T) {
	commands, files := 0, 0
	for _, b := range blocks(t, "docs/tokens.md") {
		switch b.language {
		case "sh":
			commands++
			out := shell(t, t.TempDir(), b.text)
			if strings.Count(out, auth.Prefix) != 2 || !strings.Contains(out, `token "agents" is revoked`) || strings.Count(out, " valid ") != 2 {
				t.Errorf("the commands printed\n%s", out)
			}
		case "yaml":
			files++
			if tokens, err := auth.ParseFile("tokens.md", []byte(b.text)); err != nil || len(tokens) != 1 {
				t.Errorf("the file gives %v, %v", tokens, err)
			}
		}
	}
	if commands != 1 || files != 1 {
		t.Errorf("%d blocks of commands and %d files, want one of each", commands, files)
	}
}
