package auth_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sluice-gateway/sluice/internal/auth"
)

func TestLoadToken(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good", "file-token\n", 0o600)
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(good, link); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("a", 4096)
	rows := []struct {
		name, direct, file, config string
		token                      string
		err                        []string // parts of it
	}{
		{"variable", "env-token", "", "", "env-token", nil},
		{"file", "", good, "", "file-token", nil},
		{"configured file", "", "", good, "file-token", nil},
		{"variable before the configured file", "env-token", "", good, "env-token", nil},
		{"link to a file", "", link, "", "file-token", nil},
		{"read only", "", file("readonly", "t", 0o400), "", "t", nil},
		{"end of line of Windows", "", file("crlf", "t\r\n", 0o600), "", "t", nil},
		{"longest", long, "", "", long, nil},
		{"longest in a file", "", file("longest", long+"\r\n", 0o600), "", long, nil},

		{"nothing", "", "", "", "", []string{"SOLVER_TOKEN", "SOLVER_TOKEN_FILE", "set"}},
		{"both", "secret", good, "", "", []string{"SOLVER_TOKEN and SOLVER_TOKEN_FILE", "unset one"}},
		{"space", "se cret", "", "", "", []string{"SOLVER_TOKEN holds a space"}},
		{"only spaces", " ", "", "", "", []string{"SOLVER_TOKEN holds"}},
		{"newline", "secret\n", "", "", "", []string{"SOLVER_TOKEN holds"}},
		{"control", "secret\x7f", "", "", "", []string{"SOLVER_TOKEN holds"}},
		{"beyond ASCII", "secrét", "", "", "", []string{"SOLVER_TOKEN holds"}},
		{"too long", long + "a", "", "", "", []string{"SOLVER_TOKEN is longer"}},
		{"empty file", "", file("empty", "", 0o600), "", "", []string{"SOLVER_TOKEN_FILE", "is empty"}},
		{"file of a newline", "", file("nl", "\n", 0o600), "", "", []string{"SOLVER_TOKEN_FILE", "is empty"}},
		{"two newlines", "", file("nlnl", "secret\n\n", 0o600), "", "", []string{"SOLVER_TOKEN_FILE", "control"}},
		{"too long a file", "", file("long", long+"a", 0o600), "", "", []string{"SOLVER_TOKEN_FILE", "longer"}},
		{"far too long a file", "", file("longer", strings.Repeat("a", 1<<20), 0o600), "", "", []string{"SOLVER_TOKEN_FILE", "longer"}},
		{"group may read", "", file("group", "secret", 0o640), "", "", []string{"SOLVER_TOKEN_FILE", "others may use", "0640", "chmod 600"}},
		{"all may read", "", "", file("all", "secret", 0o604), "", []string{"auth.token_file", "chmod 600"}},
		{"all may write", "", file("write", "secret", 0o602), "", "", []string{"chmod 600"}},
		{"a folder", "", dir, "", "", []string{"SOLVER_TOKEN_FILE", "not a regular file"}},
		{"a pipe", "", pipe, "", "", []string{"SOLVER_TOKEN_FILE", "not a regular file"}},
		{"missing", "", filepath.Join(dir, "nosuch"), "", "", []string{"SOLVER_TOKEN_FILE", "no such file"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			env := map[string]string{"SOLVER_TOKEN": row.direct, "SOLVER_TOKEN_FILE": row.file}
			token, err := auth.LoadToken(func(k string) string { return env[k] }, row.config)
			if token != row.token || (err != nil) != (row.err != nil) {
				t.Fatalf("got %q, %v; want %q", token, err, row.token)
			}
			for _, part := range row.err {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q lacks %q", err, part)
				}
			}
			if err != nil && strings.Contains(err.Error(), "secr") {
				t.Errorf("the error shows the token: %v", err)
			}
		})
	}
}
