package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestInterpreterThatIsNotToBeHad(t *testing.T) {
	dir := t.TempDir()
	lost := filepath.Join(dir, "lost")
	if err := os.Symlink("nowhere", lost); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none"): "it is not there; `make build` makes it",
		lost:                       "it is a link to nowhere, which is not there",
		dir:                        "is not a program",
	} {
		if _, err := (settings{Python: path}).interpreter(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// The test runs itself as another user, whom a folder of root's is closed to.
func TestInterpreterBehindAClosedFolder(t *testing.T) {
	if path := os.Getenv("TEST_CLOSED_INTERPRETER"); path != "" {
		_, err := (settings{Python: path}).interpreter()
		fmt.Println("told:", err)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("another user's view needs root")
	}
	dir, err := os.MkdirTemp("/tmp", "closed")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "python")
	if err := os.Symlink(filepath.Join(closed, "python3"), link); err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "test")
	if err := os.WriteFile(copied, own, 0o755); err != nil { //nolint:gosec // another user runs it
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // and passes here
		t.Fatal(err)
	}
	cmd := exec.Command(copied, "-test.run", "^TestInterpreterBehindAClosedFolder$", "-test.v")
	cmd.Env = []string{"TEST_CLOSED_INTERPRETER=" + link}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if want := "user 65534 may not pass " + closed; err != nil || !strings.Contains(string(out), want) {
		t.Errorf("%v, want %q in\n%s", err, want, out)
	}
}
