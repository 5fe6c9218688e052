package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// TestMain makes the test binary its own shim, the confined program and the
// helper that plays another user.
func TestMain(m *testing.M) {
	if code, is := Shim(os.Args); is {
		os.Exit(code)
	}
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "inside:") {
		os.Exit(inside(strings.TrimPrefix(os.Args[1], "inside:"), os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

// seen is what a confined program finds around itself.
type seen struct {
	PID, PPID, UID, GID int
	PGID, SID           int
	Env                 []string
	FDs                 []int
	Third               string // content of descriptor 3
	Effective, Bounding uint64
	NoNewPrivs          int
	DeathSignal         int
	Core, Files         syscall.Rlimit
	Host                string
	Interfaces          []string
	Groups              []int
	Dir                 string
	Root                []string
	Proc                []string
	Readable            map[string]string // path → error, empty: readable
	Writable            map[string]string
	Touched             map[string]string
	Modes               map[string]string
	Links               map[string]string
	SetUID              string
}

func inside(mode string, args []string) int {
	switch mode {
	case "look":
		return look(args)
	case "exit":
		return 7
	case "sleep":
		fmt.Println("up")
		time.Sleep(time.Hour)
	case "family":
		return family()
	case "daemon":
		return daemon()
	case "nest":
		return nest()
	case "fence":
		return fence(args)
	case "group":
		return grouped(args[0])
	case "reach":
		return reach(args)
	case "way":
		return goThere(args)
	case "offered":
		return offered()
	case "host":
		return playHost()
	}
	return 99
}

// nest starts a command of its own with all that it is offered, and tells the
// offer.
func nest() int {
	of := Probe()
	exe, err := os.Executable()
	if err != nil {
		return 1
	}
	l, err := Plan(Spec{Path: exe, Args: []string{exe, "inside:exit"}, Namespaces: AllNamespaces(), DropCaps: true}, of)
	if err != nil {
		return 1
	}
	p, err := l.Start()
	if err != nil || p.Wait().Code != 7 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if json.NewEncoder(os.Stdout).Encode(of) != nil {
		return 1
	}
	return 0
}

func look(args []string) int {
	s := seen{
		PID: os.Getpid(), PPID: os.Getppid(), UID: os.Getuid(), GID: os.Getgid(), Env: os.Environ(),
		PGID: unix.Getpgrp(), Effective: effective(), Bounding: bounding(),
		Readable: map[string]string{}, Writable: map[string]string{}, Touched: map[string]string{}, Modes: map[string]string{}, Links: map[string]string{},
	}
	s.SID, _ = unix.Getsid(0)
	s.FDs = openFDs()
	third := make([]byte, 64)
	n, _ := unix.Pread(3, third, 0)
	s.Third = string(third[:max(n, 0)])
	s.NoNewPrivs, _ = unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	s.DeathSignal = deathSignal()
	_ = syscall.Getrlimit(unix.RLIMIT_CORE, &s.Core)
	_ = syscall.Getrlimit(unix.RLIMIT_NOFILE, &s.Files)
	s.Host, _ = os.Hostname()
	if ifs, err := net.Interfaces(); err == nil {
		for _, i := range ifs {
			s.Interfaces = append(s.Interfaces, i.Name)
		}
	}
	s.Groups, _ = os.Getgroups()
	s.Dir, _ = os.Getwd()
	s.Root, s.Proc = names("/"), names("/proc")
	for _, p := range args {
		lookAt(&s, p)
	}
	if err := syscall.Setuid(65534); err != nil {
		s.SetUID = err.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(s); err != nil {
		return 1
	}
	return 0
}

func lookAt(s *seen, p string) {
	s.Readable[p], s.Writable[p] = "", ""
	info, err := os.Lstat(p)
	if err != nil {
		s.Readable[p] = err.Error()
		return
	}
	s.Modes[p], s.Touched[p] = info.Mode().String(), ""
	if err := unix.UtimesNanoAt(unix.AT_FDCWD, p, nil, 0); err != nil {
		s.Touched[p] = err.Error()
	}
	if link, err := os.Readlink(p); err == nil {
		s.Links[p] = link
	}
	if info, err = os.Stat(p); err == nil && info.IsDir() {
		_, err = os.ReadDir(p)
		probe := filepath.Join(p, "written-by-test")
		if werr := os.WriteFile(probe, []byte("x"), 0o600); werr != nil {
			s.Writable[p] = werr.Error()
		}
		_ = os.Remove(probe)
	} else if err == nil {
		_, err = readSome(p)
		if f, werr := os.OpenFile(p, os.O_WRONLY, 0); werr != nil {
			s.Writable[p] = werr.Error()
		} else {
			_ = f.Close()
		}
	}
	if err != nil {
		s.Readable[p] = err.Error()
	}
}

func readSome(p string) (int, error) {
	f, err := os.Open(p)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n, err := f.Read(make([]byte, 1))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func names(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// openFDs lists descriptors that were not opened by the runtime, which marks
// its own close-on-exec.
func openFDs() []int {
	var fds []int
	for fd := range 256 {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			fds = append(fds, fd)
		}
	}
	return fds
}

func effective() uint64 {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	_ = unix.Capget(&header, &data[0])
	return uint64(data[1].Effective)<<32 | uint64(data[0].Effective)
}

func bounding() (mask uint64) {
	for c := range 64 {
		if v, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(c), 0, 0, 0); err == nil && v == 1 {
			mask |= 1 << c
		}
	}
	return mask
}

func self(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// libraries are what a test binary built with cgo (the race detector) loads.
func libraries() []string {
	return slices.DeleteFunc([]string{"/lib64", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib/ld-linux-aarch64.so.1"}, func(p string) bool {
		_, err := os.Stat(p)
		return err != nil
	})
}
