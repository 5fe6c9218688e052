package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sluice-gateway/sluice/internal/sandbox/sandboxtest"
)

// goThere plays a process that enters a way and becomes this test binary again.
func goThere(args []string) int {
	err := sandboxtest.Enter(sandboxtest.Way(args[0]))
	if err == nil {
		err = syscall.Exec(args[1], args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	return 2
}

// offered plays a process that tells what it is offered.
func offered() int {
	of := Probe()
	fmt.Printf("uid=%d namespaces=%v landlock=%v filter=%v notify=%v\n", of.UID, of.Mechanism != "", of.Landlock > 0, of.Filter, of.Notify)
	return 0
}

// TestInOtherWays runs the tests of the walls again in the conditions of other
// hosts, and holds what is offered there to what the way stands for.
func TestInOtherWays(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED LOUDLY: this run is not by root, so it stands for one way itself")
	}
	if testing.Short() {
		t.Skip("the same tests three times over; make test runs them")
	}
	for way, want := range map[sandboxtest.Way]string{
		sandboxtest.User:      "uid=1000 namespaces=true landlock=true filter=true notify=true",
		sandboxtest.Container: "uid=1000 namespaces=false landlock=true filter=true notify=true",
		sandboxtest.GVisor:    "uid=0 namespaces=true landlock=false filter=true notify=false",
	} {
		t.Run(string(way), func(t *testing.T) {
			binary := elsewhere(t)
			if got := strings.TrimSpace(inWay(t, way, binary, "inside:offered")); got != want {
				t.Errorf("offered %q, want %q", got, want)
			}
			out := inWay(t, way, binary, "-test.v", "-test.short", "-test.run",
				"^Test(CleanStart|OwnRoot|FreshProc|KillTakes|DiesWith|NothingIsLeft|ExecutesAn|Nested|Landlock|ChildDomain|Forbidden|Harmless|Lax|Group|Command)")
			for line := range strings.Lines(out) {
				if strings.Contains(line, "SKIPPED LOUDLY") || strings.HasPrefix(line, "--- ") {
					t.Log(strings.TrimSpace(line))
				}
			}
		})
	}
}

func inWay(t *testing.T, way sandboxtest.Way, binary string, args ...string) string {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"inside:way", string(way), binary}, args...)...)
	cmd.Dir = filepath.Dir(binary)
	cmd.Env = []string{"TMPDIR=" + cmd.Dir, "HOME=" + cmd.Dir}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("in the way %s, %q: %v\n%s", way, args, err, out)
	}
	return string(out)
}

// elsewhere copies this binary to where every user can read it and write beside it.
func elsewhere(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "sandbox-way-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "sandbox.test")
	if err := copyFile(binary, self(t)); err != nil {
		t.Fatal(err)
	}
	return binary
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
