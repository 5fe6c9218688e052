package sandbox

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// pythonForTest is the environment that `make .venv` builds.
func pythonForTest(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../.venv/bin/python")
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("the Python environment is needed, `make .venv` builds it: %v", err)
	}
	return path
}

// loggingFilter notifies of every call that is not allowed, and of those which are
// refused too.
func loggingFilter(t *testing.T) ChildFilter {
	t.Helper()
	f, err := NewChildFilter(FilterOptions{Notify: true, ControlFD: 3})
	if err != nil {
		t.Fatal(err)
	}
	info, err := archOf(runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	rules := append(handOverRules(3), childRules()...)
	for i, r := range rules {
		if r.deed != allow && r.deed != pretend {
			rules[i].deed = forbid
		}
	}
	code, err := assemble(info, rules, seccomp.ActionUserNotify, seccomp.ActionUserNotify)
	if err != nil {
		t.Fatal(err)
	}
	f.Program, f.PIDSlots = filterBytes(code), slots(code)
	return f
}

// confined runs the programs each behind the filter. judge hears of each
// notification and gives the errno to answer.
func confined(t *testing.T, f ChildFilter, programs []string, judge func(program, call string) unix.Errno) (failures []string) {
	t.Helper()
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	script, err := filepath.Abs("testdata/confine.py")
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // the child dies with the thread that forked it
	defer runtime.UnlockOSThread()
	cmd := exec.Command(pythonForTest(t), append([]string{"-I", "-B", script, string(text)}, programs...)...)
	cmd.Env, cmd.Dir, cmd.Stderr = []string{"OPENBLAS_NUM_THREADS=1", "TZ=UTC", "LANG=C.UTF-8"}, t.TempDir(), os.Stderr
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	conn, err := net.FileConn(ours)
	ours.Close()
	if err != nil {
		t.Fatal(err)
	}
	var watching sync.WaitGroup
	watching.Go(func() { superviseAll(t, conn.(*net.UnixConn), programs, judge) })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var got []any
		if err := json.Unmarshal(lines.Bytes(), &got); err != nil || len(got) != 3 {
			t.Errorf("line %q: %v", lines.Text(), err)
		} else if got[1] != 0.0 {
			failures = append(failures, lines.Text())
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the programs' parent: %v", err)
	}
	conn.Close()
	watching.Wait()
	return failures
}

func superviseAll(t *testing.T, conn *net.UnixConn, programs []string, judge func(program, call string) unix.Errno) {
	for {
		number, oob := make([]byte, 4), make([]byte, unix.CmsgSpace(4))
		n, oobn, _, _, err := conn.ReadMsgUnix(number, oob)
		if err != nil || n != 4 {
			return
		}
		messages, err := unix.ParseSocketControlMessage(oob[:oobn])
		if err != nil || len(messages) != 1 {
			t.Errorf("control messages %v, %v", messages, err)
			return
		}
		rights, err := unix.ParseUnixRights(&messages[0])
		if err != nil {
			t.Error(err)
			return
		}
		program := programs[binary.NativeEndian.Uint32(number)]
		go func() { _, _ = conn.Write([]byte{1}) }() // it waits for that, so that none runs unwatched
		err = watch(context.Background(), os.NewFile(uintptr(rights[0]), "listener"), func(n notification) response { return refusal(judge(program, SyscallName(int(n.nr)))) })
		if err != nil {
			t.Error(err)
		}
	}
}

// TestBenignCalls runs the benign corpus and the libraries' common paths behind a
// filter that tells of every call which the written lists do not allow. None
// may be a forbidden one, and the programs end well although those calls are
// answered as the lists say.
func TestBenignCalls(t *testing.T) {
	if !Probe().Notify {
		t.Skip("SKIPPED LOUDLY: no user notification here")
	}
	programs, err := filepath.Glob("../../policies/corpus/allow/*.py")
	if err != nil || len(programs) < 100 {
		t.Fatalf("the benign corpus has %d programs, %v", len(programs), err)
	}
	programs = slices.DeleteFunc(programs, func(p string) bool { // the others are attacks that the policy leaves to the walls
		text, err := os.ReadFile(p)
		return err != nil || !strings.Contains(string(text), "\n# topic: ")
	})
	paths, err := filepath.Glob("testdata/paths/*.py")
	if err != nil || len(paths) < 5 {
		t.Fatalf("%d programs for common paths, %v", len(paths), err)
	}
	if testing.Short() { // every eighth
		programs = slices.DeleteFunc(programs, func(p string) bool { return len(p)*31%8 != 0 })
	}
	for i := range programs {
		programs[i], _ = filepath.Abs(programs[i])
	}
	for i := range paths {
		paths[i], _ = filepath.Abs(paths[i])
	}
	answers := map[string]unix.Errno{}
	for _, r := range childRules() {
		for _, call := range strings.Fields(r.calls) {
			switch r.deed {
			case refuse:
				answers[call] = unix.EPERM
			case notHere:
				answers[call] = unix.EOPNOTSUPP
			case notTTY:
				answers[call] = unix.ENOTTY
			case forbid:
				answers[call] = unix.ECANCELED
			}
		}
	}
	var mu sync.Mutex
	seen := map[string][]string{}
	failures := confined(t, loggingFilter(t), append(programs, paths...), func(program, call string) unix.Errno {
		mu.Lock()
		defer mu.Unlock()
		if !slices.Contains(seen[call], filepath.Base(program)) {
			seen[call] = append(seen[call], filepath.Base(program))
		}
		if errno, ok := answers[call]; ok {
			return errno
		}
		return unix.ENOSYS
	})
	for call, by := range seen {
		t.Logf("not allowed: %s by %d programs: %.200s", call, len(by), strings.Join(by, " "))
		if answers[call] == unix.ECANCELED {
			t.Errorf("%s is forbidden, but made by %q", call, by)
		}
	}
	for _, f := range failures {
		t.Errorf("failed: %s", f)
	}
}
