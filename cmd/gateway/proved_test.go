package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sluice-gateway/sluice/policies"
)

func TestProved(t *testing.T) {
	if !proved(os.DirFS(filepath.Join("..", "..", "policies"))) {
		t.Error("the repository's policy is not that of the binary")
	}
	for name, change := range map[string]func(dir string) error{
		"changed": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "main.rego"), []byte("package gateway\n"), 0o600)
		},
		"one more": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "custom", "mine.rego"), []byte("package custom.mine\n"), 0o600)
		},
		"one fewer": func(dir string) error { return os.Remove(filepath.Join(dir, "allowlist.rego")) },
	} {
		dir := filepath.Join(t.TempDir(), "p")
		if err := os.CopyFS(dir, policies.FS()); err != nil {
			t.Fatal(err)
		}
		if !proved(os.DirFS(dir)) {
			t.Fatal("a copy of the binary's policy is not seen to be one")
		}
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		if proved(os.DirFS(dir)) {
			t.Errorf("%s: a changed policy would go unproved", name)
		}
	}
}
