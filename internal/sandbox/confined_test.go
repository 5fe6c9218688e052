package sandbox

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func deathSignal() int {
	var sig int32
	_ = unix.Prctl(unix.PR_GET_PDEATHSIG, uintptr(unsafe.Pointer(&sig)), 0, 0, 0)
	return int(sig)
}

// run starts a confined look and returns what it saw.
func run(t *testing.T, spec Spec, offer Offer) (seen, *Process) {
	t.Helper()
	data, p := collect(t, spec, offer)
	var s seen
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatalf("confined program said %q: %v", data, err)
	}
	return s, p
}

func output(t *testing.T, spec Spec, offer Offer) []byte {
	t.Helper()
	data, _ := collect(t, spec, offer)
	return data
}

// collect starts a confined program and returns what it printed.
func collect(t *testing.T, spec Spec, offer Offer) ([]byte, *Process) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	spec.Stdout, spec.Stderr = w, os.Stderr
	l, err := Plan(spec, offer)
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.Start()
	_ = w.Close()
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if st := p.Wait(); st.Code != 0 {
		t.Fatalf("confined program: %v", st)
	}
	return data, p
}

func lookSpec(t *testing.T, paths ...string) Spec {
	t.Helper()
	exe := self(t)
	return Spec{Path: exe, Args: append([]string{exe, "inside:look"}, paths...)}
}

func needNamespaces(t *testing.T, of Offer, ns ...Namespace) {
	t.Helper()
	for _, n := range ns {
		if !slices.Contains(of.Namespaces, n) {
			t.Skipf("SKIPPED LOUDLY: this kernel or container gives no %s namespace: %s", n, of.Why)
		}
	}
}

func TestCleanStart(t *testing.T) {
	stray, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer stray.Close()
	dup, err := unix.Dup(int(stray.Fd())) // a descriptor that would be inherited
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dup)
	given := filepath.Join(t.TempDir(), "given")
	if err := os.WriteFile(given, []byte("third"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(given)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	t.Setenv("SOLVER_TOKEN", "secret")

	spec := lookSpec(t)
	spec.Env, spec.Files, spec.Dir = []string{"A=1", "B=2"}, []*os.File{f}, "/"
	spec.DropCaps = true
	spec.Rlimits = []Rlimit{{Resource: unix.RLIMIT_NOFILE, Soft: 64, Hard: 128}}
	s, p := run(t, spec, Offer{UID: os.Geteuid(), Permitted: permitted()})

	if !slices.Equal(s.Env, spec.Env) {
		t.Errorf("environment is %q, want exactly %q", s.Env, spec.Env)
	}
	if !slices.Equal(s.FDs, []int{0, 1, 2, 3}) || s.Third != "third" {
		t.Errorf("descriptors are %v, the third holds %q; want 0 to 3 and %q", s.FDs, s.Third, "third")
	}
	if s.NoNewPrivs != 1 || s.Core != (syscall.Rlimit{}) || s.DeathSignal != int(unix.SIGKILL) {
		t.Errorf("no_new_privs %d, core limit %v, parent-death signal %d", s.NoNewPrivs, s.Core, s.DeathSignal)
	}
	if s.Files.Max != 128 { // Go raises the soft one at its start
		t.Errorf("hard descriptor limit is %d, want 128", s.Files.Max)
	}
	if s.PGID != p.PID() || s.SID != p.PID() {
		t.Errorf("group %d and session %d, want its own, %d", s.PGID, s.SID, p.PID())
	}
	if s.Effective != 0 || len(s.Groups) != 0 && os.Geteuid() == 0 {
		t.Errorf("capabilities %x, groups %v left", s.Effective, s.Groups)
	}
	if os.Geteuid() == 0 && (s.Bounding != 0 || s.SetUID == "") {
		t.Errorf("bounding set %x left, setuid: %q", s.Bounding, s.SetUID)
	}
}

func TestKeptCapabilities(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED LOUDLY: keeping capabilities is tested as root; another user has none to keep")
	}
	spec := lookSpec(t)
	spec.DropCaps, spec.KeepCaps = true, []Cap{unix.CAP_SETUID, unix.CAP_SETGID}
	s, _ := run(t, spec, Offer{UID: 0, Permitted: permitted()})
	want := uint64(1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID)
	if s.Effective != want || s.Bounding != want || s.SetUID != "" {
		t.Errorf("capabilities %x, bounding set %x, setuid %q; want %x twice", s.Effective, s.Bounding, s.SetUID, want)
	}
}

// house is a folder with a part that only its owner may enter, as a home is.
type house struct{ closed, tree, side, lone, link string }

func buildHouse(t *testing.T) house {
	t.Helper()
	// Not under /tmp, which is writable inside.
	dir, err := os.MkdirTemp("/var/tmp", "sandbox-root-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for path, content := range map[string]string{"closed/tree/a": "a", "closed/side/secret": "s", "closed/tree/sub/b": "b", "lone": "l"} {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h := house{closed: filepath.Join(dir, "closed"), lone: filepath.Join(dir, "lone"), link: filepath.Join(dir, "link")}
	h.tree, h.side = filepath.Join(h.closed, "tree"), filepath.Join(h.closed, "side")
	if err := os.Chmod(h.closed, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("closed/tree", h.link); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestOwnRoot(t *testing.T) {
	of := Probe()
	needNamespaces(t, of, AllNamespaces()...)
	h := buildHouse(t)
	inLink := filepath.Join(h.link, "a")
	spec := lookSpec(t, h.closed, h.tree, h.side, h.lone, h.link, inLink, "/tmp", "/etc/passwd", "/dev/null", "/dev/urandom", "/proc", "/dev", "/")
	spec.Namespaces, spec.DropCaps = AllNamespaces(), true
	spec.ReadOnly = append(libraries(), self(t), h.link, h.lone)
	s, p := run(t, spec, of)

	if err := Require(p.Walls(), "clean-start", "rlimits", "namespaces", "root", "files", "network"); err != nil {
		t.Error(err)
	}
	if s.PID != 1 || s.PPID != 0 || s.Host != "sandbox" || !slices.Equal(s.Interfaces, nil) && !slices.Equal(s.Interfaces, []string{"lo"}) {
		t.Errorf("number %d, parent %d, host %q, interfaces %v", s.PID, s.PPID, s.Host, s.Interfaces)
	}
	for _, p := range []string{h.tree, h.lone, h.link, inLink, "/tmp", "/dev/null", "/dev/urandom"} {
		if s.Readable[p] != "" {
			t.Errorf("%s cannot be read: %s", p, s.Readable[p])
		}
	}
	for _, p := range []string{h.side, "/etc/passwd", "/proc"} {
		if s.Readable[p] == "" {
			t.Errorf("%s can be read, and was not given", p)
		}
	}
	for _, p := range []string{"/", "/dev", h.tree, h.closed, h.lone, inLink} {
		if s.Writable[p] == "" {
			t.Errorf("%s can be written", p)
		}
	}
	if s.Writable["/tmp"] != "" || s.Writable["/dev/null"] != "" {
		t.Errorf("/tmp: %q, /dev/null: %q; both must be writable", s.Writable["/tmp"], s.Writable["/dev/null"])
	}
	if s.Touched["/dev/null"] == "" || s.Touched["/dev/urandom"] == "" || s.Touched["/tmp"] != "" {
		t.Errorf("times set: %q; a device's would be seen by all", s.Touched)
	}
	if s.Modes[h.closed] != "drwxr-xr-x" || s.Links[h.link] != "closed/tree" {
		t.Errorf("the way is %s, want passable; the link leads to %q", s.Modes[h.closed], s.Links[h.link])
	}
	if s.Effective != 0 || s.Bounding != 0 {
		t.Errorf("capabilities %x, bounding set %x left", s.Effective, s.Bounding)
	}
}

func TestFreshProc(t *testing.T) {
	of := Probe()
	needNamespaces(t, of, PID, Mount)
	if !of.FreshProc {
		t.Skipf("SKIPPED LOUDLY: no new /proc can be mounted here: %s", of.Why)
	}
	spec := lookSpec(t)
	spec.Namespaces, spec.FreshProc = []Namespace{PID, Mount}, true
	s, _ := run(t, spec, of)
	numbers := slices.DeleteFunc(s.Proc, func(n string) bool { _, err := strconv.Atoi(n); return err != nil })
	if !slices.Equal(numbers, []string{"1"}) {
		t.Errorf("the new /proc shows processes %v, want itself alone", numbers)
	}
}

// TestNested: a plugin inside the outer ring puts up its own walls.
func TestNested(t *testing.T) {
	of := Probe()
	needNamespaces(t, of, AllNamespaces()...)
	if !of.FreshProc {
		t.Skipf("SKIPPED LOUDLY: no new /proc can be mounted here: %s", of.Why)
	}
	exe := self(t)
	out := output(t, Spec{Path: exe, Args: []string{exe, "inside:nest"}, Namespaces: []Namespace{PID, Mount, IPC, UTS}, FreshProc: true}, of)
	var inner Offer
	if err := json.Unmarshal(out, &inner); err != nil {
		t.Fatalf("inside: %q: %v", out, err)
	}
	if inner.Mechanism != of.Mechanism || !slices.Equal(inner.Namespaces, AllNamespaces()) || !inner.Pivot {
		t.Errorf("inside the outer ring the offer is %+v", inner)
	}
}

// TestWithoutRights: a process that may do little (as root in a container)
// still starts commands, and the offer says why there is no more.
func TestWithoutRights(t *testing.T) {
	exe := self(t)
	out := output(t, Spec{Path: exe, Args: []string{exe, "inside:nest"}, DropCaps: true}, Offer{UID: os.Geteuid(), Permitted: permitted()})
	var inner Offer
	if err := json.Unmarshal(out, &inner); err != nil {
		t.Fatalf("inside: %q: %v", out, err)
	}
	t.Logf("without rights the offer is %+v", inner)
	if inner.Mechanism == ByPrivilege || inner.Permitted != 0 || inner.Mechanism == "" && inner.Why == "" {
		t.Errorf("without rights the offer is %+v", inner)
	}
}

func TestExecutesAnOpenFile(t *testing.T) {
	fd, err := unix.MemfdCreate("copy", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	copied := os.NewFile(uintptr(fd), "copy")
	defer copied.Close()
	original, err := os.Open(self(t))
	if err != nil {
		t.Fatal(err)
	}
	defer original.Close()
	if _, err := io.Copy(copied, original); err != nil {
		t.Fatal(err)
	}
	spec := lookSpec(t)
	spec.Path, spec.Exe = "/nowhere/program", copied
	s, _ := run(t, spec, Probe())
	if !slices.Equal(s.FDs, []int{0, 1, 2}) {
		t.Errorf("descriptors are %v", s.FDs)
	}
}

func TestFailuresAreTold(t *testing.T) {
	of := Probe()
	for name, c := range map[string]struct {
		spec Spec
		want string
	}{
		"no program":       {Spec{Path: "/nowhere/program"}, "no such file"},
		"no directory":     {Spec{Path: self(t), Dir: "/nowhere"}, `enter directory "/nowhere"`},
		"relative":         {Spec{Path: "program"}, "must be absolute"},
		"bound root":       {Spec{Path: "/a", ReadOnly: []string{"/"}}, "not the root"},
		"NUL":              {Spec{Path: "/a", Env: []string{"A=\x00"}}, "NUL"},
		"unknown":          {Spec{Path: "/a", Namespaces: []Namespace{"time"}}, "unknown namespace"},
		"missing bind":     {Spec{Path: "/a", ReadOnly: []string{"/nowhere/x"}, Namespaces: []Namespace{Mount}}, "no such file"},
		"exe and own root": {Spec{Path: "/a", Exe: os.Stdin, ReadOnly: []string{"/usr"}}, "exclude each other"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "missing bind" {
				needNamespaces(t, of, Mount)
			}
			l, err := Plan(c.spec, of)
			if err == nil {
				_, err = l.Start()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// family forks a daemon that leaves the group, and waits.
func family() int {
	exe, err := os.Executable()
	if err != nil {
		return 1
	}
	cmd := exec.Command(exe, "inside:daemon")
	cmd.Stdout, cmd.SysProcAttr = os.Stdout, &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("up")
	time.Sleep(time.Hour)
	return 0
}

func daemon() int {
	fmt.Println("daemon")
	time.Sleep(time.Hour)
	return 0
}

func TestKillTakesTheNamespaceAlong(t *testing.T) {
	of := Probe()
	needNamespaces(t, of, PID)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	exe := self(t)
	l, err := Plan(Spec{Path: exe, Args: []string{exe, "inside:family"}, Namespaces: []Namespace{PID}, Stdout: w, Stderr: os.Stderr}, of)
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.Start()
	_ = w.Close()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(r)
	for range 2 {
		if !lines.Scan() {
			t.Fatal("family did not come up")
		}
	}
	p.Kill()
	if st := p.Wait(); st.Signal != unix.SIGKILL {
		t.Errorf("ended by %v", st)
	}
	if err := p.Signal(unix.SIGTERM); err == nil {
		t.Error("a signal to an ended command was accepted")
	}
	// The daemon held the pipe; its end says that the daemon is gone too.
	_ = r.SetReadDeadline(time.Now().Add(5 * time.Second))
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("after the kill the pipe gave %q, %v; want its end", rest, err)
	}
}

// playHost starts a confined sleeper from a goroutine that ends, says so, and
// waits to be killed.
func playHost() int {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: this thread ends with the goroutine
		exe, err := os.Executable()
		if err != nil {
			started <- err
			return
		}
		spec := Spec{Path: exe, Args: []string{exe, "inside:sleep"}, Stdout: os.Stdout, Namespaces: AllNamespaces()}
		if os.Getenv("PLAIN") != "" {
			spec.Namespaces = nil
		}
		l, err := Plan(spec, Probe())
		if err == nil {
			_, err = l.Start()
		}
		started <- err
	}()
	if err := <-started; err != nil {
		fmt.Println(err)
		return 1
	}
	time.Sleep(time.Hour)
	return 0
}

func TestDiesWithItsParent(t *testing.T) {
	for _, env := range []string{"", "PLAIN=1"} {
		t.Run("environment "+env, func(t *testing.T) {
			cmd := exec.Command(self(t), "inside:host")
			cmd.Env = append(os.Environ(), env)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			cmd.Stdout = w
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = w.Close()
			if line, err := bufio.NewReader(r).ReadString('\n'); line != "up\n" {
				t.Fatalf("sleeper said %q, %v", line, err)
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			_ = r.SetReadDeadline(time.Now().Add(5 * time.Second))
			if _, err := io.ReadAll(r); err != nil {
				t.Errorf("the sleeper outlived its parent: %v", err)
			}
		})
	}
}

func TestNothingIsLeftOver(t *testing.T) {
	of := Probe()
	exe := self(t)
	before := len(names("/proc/self/fd"))
	for range 20 {
		l, err := Plan(Spec{Path: exe, Args: []string{exe, "inside:exit"}, Namespaces: AllNamespaces()}, of)
		if err != nil {
			t.Fatal(err)
		}
		p, err := l.Start()
		if err != nil {
			t.Fatal(err)
		}
		if st := p.Wait(); st.Code != 7 || st.MaxRSS == 0 {
			t.Fatalf("ended with %+v, want exit status 7 and its memory", st)
		}
	}
	if after := len(names("/proc/self/fd")); after > before+1 {
		t.Errorf("%d descriptors before, %d after twenty commands", before, after)
	}
}
