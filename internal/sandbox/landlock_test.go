package sandbox

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func TestPlanLandlock(t *testing.T) {
	files := &Domain{ReadOnly: []string{"/usr"}}
	for name, c := range map[string]struct {
		domain *Domain
		abi    int
		files  bool
		in     bool
		says   string
	}{
		"not asked for":  {nil, 7, false, false, ""},
		"none":           {files, 0, false, false, "gone"},
		"old":            {files, 1, true, true, "Landlock ABI 1: paths"},
		"full":           {files, 7, true, true, "Landlock ABI 7: TCP, paths, signals and abstract sockets"},
		"newer":          {files, 99, true, true, "Landlock ABI 99"},
		"files left":     {&Domain{LeaveFiles: true}, 7, false, true, "Landlock ABI 7: TCP, signals and abstract sockets"},
		"nothing to do":  {&Domain{LeaveFiles: true}, 3, false, false, "has nothing to take"},
		"TCP, no scopes": {&Domain{LeaveFiles: true}, 4, false, true, "keeps no signals in"},
	} {
		l, err := Plan(Spec{Path: "/p", Landlock: c.domain}, Offer{Landlock: c.abi, LandlockWhy: "gone"})
		if err != nil {
			t.Fatal(err)
		}
		w := l.Walls()[2]
		if w.Name != nameLandlock || w.InForce != c.in || w.Files != c.files || !strings.Contains(w.Mechanism+w.Why, c.says) {
			t.Errorf("%s: %+v", name, w)
		}
		if err := l.Require("files"); (err == nil) != c.files {
			t.Errorf("%s: files: %v", name, err)
		}
	}
}

func TestChildDomainBytes(t *testing.T) {
	d := Domain{ReadOnly: []string{"/usr"}, Writable: []string{"/tmp"}, Devices: []string{"/dev/null"}}
	for abi, size := range map[int]int{1: 8, 3: 8, 4: 16, 6: 24, 7: 24, 99: 24} {
		c, ok := NewChildDomain(d, abi)
		if !ok || len(c.Attr) != size || len(c.Rules) != 3 {
			t.Errorf("ABI %d: %+v, %v", abi, c, ok)
		}
		handled := binary.NativeEndian.Uint64(c.Attr)
		for _, r := range c.Rules {
			if r.Dir&^handled != 0 || r.File&^r.Dir != 0 || r.Dir == 0 {
				t.Errorf("ABI %d: rule %+v with %#x handled", abi, r, handled)
			}
		}
	}
	if c, ok := NewChildDomain(Domain{LeaveFiles: true}, 7); !ok || len(c.Rules) != 0 || binary.NativeEndian.Uint64(c.Attr) != 0 || binary.NativeEndian.Uint64(c.Attr[16:]) != 3 {
		t.Errorf("files left: %+v, %v", c, ok)
	}
	if _, ok := NewChildDomain(Domain{LeaveFiles: true}, 3); ok {
		t.Error("a domain that takes nothing away")
	}
	if _, ok := NewChildDomain(d, 0); ok {
		t.Error("a domain without Landlock")
	}
}

// reached is what a confined process could still do; empty strings are successes.
type reached struct {
	Read, List, Write, WriteTmp, Exec, Null, TCP, Abstract, Signal, SignalOwn, Mount string
}

// reach plays it: args are the directory with what to read, one to write in, the
// number of a process to signal, a port, an abstract socket's name and
// optionally a ChildDomain to enter first.
func reach(args []string) int {
	runtime.LockOSThread()
	if len(args) > 5 {
		var c ChildDomain
		if err := json.Unmarshal([]byte(args[5]), &c); err != nil {
			return 2
		}
		if err := enterDomain(c); err != nil {
			fmt.Println(err)
			return 3
		}
	}
	pid, _ := strconv.Atoi(args[2])
	say := func(err error) string {
		if err == nil {
			return ""
		}
		var e unix.Errno
		if errors.As(err, &e) {
			return unix.ErrnoName(e)
		}
		return err.Error()
	}
	var r reached
	_, err := os.ReadFile(args[0] + "/secret")
	r.Read = say(err)
	_, err = os.ReadDir(args[0])
	r.List = say(err)
	r.Write = say(os.WriteFile(args[0]+"/new", nil, 0o600))
	r.WriteTmp = say(os.WriteFile(args[1]+"/new", []byte("x"), 0o600))
	null, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	r.Null = say(err)
	_ = null.Close()
	r.TCP, r.Abstract = say(dial(unix.AF_INET, args[3])), say(dial(unix.AF_UNIX, args[4]))
	r.Signal, r.SignalOwn = say(unix.Kill(pid, 0)), say(unix.Kill(os.Getpid(), 0))
	r.Mount = say(unix.Mount("", args[1], "", unix.MS_BIND, ""))
	if json.NewEncoder(os.Stdout).Encode(r) != nil {
		return 1
	}
	return 0
}

// dial connects on this thread, which is the one that is confined.
func dial(family int, to string) error {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if family == unix.AF_UNIX {
		return unix.Connect(fd, &unix.SockaddrUnix{Name: "@" + to})
	}
	port, _ := strconv.Atoi(to)
	return unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
}

// enterDomain does a ChildDomain's steps for the calling thread.
func enterDomain(c ChildDomain) error {
	fd, _, e := unix.Syscall(444, uintptr(unsafe.Pointer(&c.Attr[0])), uintptr(len(c.Attr)), 0)
	if e != 0 {
		return fmt.Errorf("create: %w", e)
	}
	for _, r := range c.Rules {
		path, err := unix.Open(r.Path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		var st unix.Stat_t
		if err := errors.Join(err, unix.Fstat(path, &st)); err != nil {
			return err
		}
		access := r.File
		if st.Mode&unix.S_IFMT == unix.S_IFDIR {
			access = r.Dir
		}
		attr := binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint64(nil, access), uint32(path))
		if _, _, e := unix.Syscall6(445, fd, 1, uintptr(unsafe.Pointer(&attr[0])), 0, 0, 0); e != 0 {
			return fmt.Errorf("add %q: %w", r.Path, e)
		}
		unix.Close(path)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, e := unix.Syscall(446, fd, 0, 0); e != 0 {
		return fmt.Errorf("restrict: %w", e)
	}
	return unix.Close(int(fd))
}

// surroundings are what a confined process may try: a directory with a file, one
// to write in, a neighbour, a port and an abstract socket that listen.
func surroundings(t *testing.T) (secret, scratch string, args []string) {
	t.Helper()
	secret, scratch = t.TempDir(), t.TempDir()
	if err := os.WriteFile(secret+"/secret", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	neighbour := exec.Command(self(t), "inside:sleep")
	if err := neighbour.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = neighbour.Process.Kill(); _ = neighbour.Wait() })
	port, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	name := "sandbox-test-" + strconv.Itoa(os.Getpid())
	socket, err := net.Listen("unix", "@"+name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { port.Close(); socket.Close() })
	return secret, scratch, []string{secret, scratch, strconv.Itoa(neighbour.Process.Pid), strconv.Itoa(port.Addr().(*net.TCPAddr).Port), name}
}

func confinedReach(t *testing.T, domain *Domain, args []string) reached {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	l, err := Plan(Spec{Path: self(t), Args: append([]string{self(t), "inside:reach"}, args...), Landlock: domain, Stdout: write, Stderr: os.Stderr}, Probe())
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.Start()
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	var r reached
	if err := json.NewDecoder(read).Decode(&r); err != nil {
		t.Fatalf("%v (%v)", err, p.Wait())
	}
	p.Wait()
	return r
}

// TestLandlock: with the wall each thing fails in its way, without it all work.
func TestLandlock(t *testing.T) {
	abi := Probe().Landlock
	if abi < 6 {
		t.Skipf("SKIPPED LOUDLY: Landlock ABI %d here, 6 is needed for the whole test", abi)
	}
	secret, scratch, args := surroundings(t)
	open := confinedReach(t, nil, args)
	if want := (reached{Mount: open.Mount}); open != want {
		t.Errorf("without the wall: %+v", open)
	}
	os.Remove(secret + "/new")
	exe := append([]string{self(t)}, libraries()...)
	whole := Domain{ReadOnly: exe, Writable: []string{scratch}, Devices: []string{"/dev/null"}}
	gone := reached{Read: "EACCES", List: "EACCES", Write: "EACCES", TCP: "EACCES", Abstract: "EPERM", Signal: "EPERM", Mount: "EPERM"}
	if got := confinedReach(t, &whole, args); got != gone {
		t.Errorf("behind the wall: %+v, want %+v", got, gone)
	}
	readable := whole
	readable.ReadOnly = append(slices.Clone(exe), secret, "/nowhere")
	want := gone
	want.Read, want.List = "", ""
	if got := confinedReach(t, &readable, args); got != want {
		t.Errorf("with the directory readable: %+v, want %+v", got, want)
	}
	want = reached{TCP: "EACCES", Abstract: "EPERM", Signal: "EPERM", Mount: open.Mount}
	if got := confinedReach(t, &Domain{LeaveFiles: true}, args); got != want {
		t.Errorf("with files left: %+v, want %+v", got, want)
	}
}

// TestChildDomain: by its bytes and steps a process confines itself the same way,
// and within the zygote's domain it reaches no sibling.
func TestChildDomain(t *testing.T) {
	abi := Probe().Landlock
	if abi < 6 {
		t.Skipf("SKIPPED LOUDLY: Landlock ABI %d here, 6 is needed for the whole test", abi)
	}
	_, scratch, args := surroundings(t)
	c, ok := NewChildDomain(Domain{Writable: []string{scratch, "/nowhere"}, Devices: []string{"/dev/null"}}, abi)
	if !ok {
		t.Fatal("no domain")
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	want := reached{Read: "EACCES", List: "EACCES", Write: "EACCES", TCP: "EACCES", Abstract: "EPERM", Signal: "EPERM", Mount: "EPERM"}
	if got := confinedReach(t, nil, append(args, string(text))); got != want {
		t.Errorf("alone: %+v, want %+v", got, want)
	}
	if got := confinedReach(t, &Domain{LeaveFiles: true}, append(args, string(text))); got != want {
		t.Errorf("nested: %+v, want %+v", got, want)
	}
}
