package sandbox

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAsNobody runs the tests of the walls again as a user without rights,
// where user namespaces are the only way.
func TestAsNobody(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED LOUDLY: this run is not by root, so the other tests were run without rights already")
	}
	dir, err := os.MkdirTemp("/tmp", "sandbox-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "sandbox.test") // where that user can read it
	if err := copyFile(binary, self(t)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-test.run", "^Test(CleanStart|OwnRoot|FreshProc|KillTakes|DiesWith|NothingIsLeft|ExecutesAn|Nested)", "-test.v")
	cmd.Env = []string{"TMPDIR=" + dir, "HOME=" + dir}
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	text := string(out)
	for line := range strings.Lines(text) {
		if strings.Contains(line, "SKIPPED LOUDLY") || strings.Contains(line, "--- ") {
			t.Log(strings.TrimSpace(line))
		}
	}
	if err != nil {
		t.Errorf("as nobody: %v\n%s", err, text)
	}
}

func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
