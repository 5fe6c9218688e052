package sandbox

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const testPID = 4711

// answerOf runs a filter as the kernel would.
func answerOf(t *testing.T, f []byte, auditArch uint32, nr uint32, args ...uint64) seccomp.Action {
	t.Helper()
	return ask(t, machine(t, f), auditArch, nr, args...)
}

func machine(t *testing.T, f []byte) *bpf.VM {
	t.Helper()
	vm, err := bpf.NewVM(instructions(t, f))
	if err != nil {
		t.Fatal(err)
	}
	return vm
}

// ask runs the machine of x/net, which reads big-endian: the call's data is laid out
// that way.
func ask(t *testing.T, vm *bpf.VM, auditArch uint32, nr uint32, args ...uint64) seccomp.Action {
	t.Helper()
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data, nr)
	binary.BigEndian.PutUint32(data[4:], auditArch)
	for i, a := range args {
		binary.BigEndian.PutUint32(data[16+8*i:], uint32(a)) // the low half lies first
		binary.BigEndian.PutUint32(data[20+8*i:], uint32(a>>32))
	}
	got, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return seccomp.Action(uint32(got))
}

func instructions(t *testing.T, f []byte) []bpf.Instruction {
	t.Helper()
	var program []bpf.Instruction
	for ; len(f) > 0; f = f[8:] {
		program = append(program, bpf.RawInstruction{
			Op: binary.NativeEndian.Uint16(f), Jt: f[2], Jf: f[3], K: binary.NativeEndian.Uint32(f[4:]),
		}.Disassemble())
	}
	return program
}

func TestChildRulesAnswer(t *testing.T) {
	const enosys, eperm, enotty = seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), seccomp.ActionErrno | seccomp.Action(unix.EPERM), seccomp.ActionErrno | seccomp.Action(unix.ENOTTY)
	const pass, named, killed = seccomp.ActionAllow, seccomp.ActionUserNotify, seccomp.ActionKillProcess
	const done = seccomp.ActionErrno // 0: as if it had been done
	for _, c := range []struct {
		call string
		args []uint64
		want seccomp.Action
	}{
		{"read", nil, pass}, {"mmap", nil, pass}, {"exit_group", nil, pass}, {"rseq", nil, pass},
		{"clone", []uint64{threadFlags}, pass}, {"clone", []uint64{threadFlagsMusl}, pass},
		{"clone", []uint64{uint64(unix.SIGCHLD)}, named}, {"clone", []uint64{threadFlags | unix.CLONE_NEWUSER}, named},
		{"clone", []uint64{threadFlags | 1<<32}, named}, {"clone", []uint64{unix.CLONE_VM | unix.CLONE_VFORK | uint64(unix.SIGCHLD)}, named},
		{"clone", []uint64{1}, named}, // 1 is write: a register must not stand for a call's number
		{"clone3", nil, enosys}, {"landlock_create_ruleset", nil, enosys}, {"shmget", nil, enosys},
		{"kill", []uint64{testPID, 9}, pass}, {"kill", []uint64{0, 9}, pass}, {"kill", []uint64{testPID + 1, 9}, named}, {"kill", []uint64{^uint64(0), 9}, named},
		{"kill", []uint64{uint64(uint32(1<<32 - 1)), 9}, named}, {"kill", []uint64{1, 0}, named},
		{"tgkill", []uint64{testPID, 1, 6}, pass}, {"tgkill", []uint64{1, 1, 6}, named}, {"tkill", []uint64{testPID, 6}, pass}, {"tkill", []uint64{1, 6}, eperm},
		// SIGCONT, also with what the kernel does not look at, would let a stopped process go on.
		{"kill", []uint64{testPID, 18}, named}, {"kill", []uint64{testPID, 1<<32 | 18}, named}, {"kill", []uint64{0, 18}, named}, {"kill", []uint64{testPID, 17}, pass}, {"kill", []uint64{testPID, 19}, pass},
		{"tgkill", []uint64{testPID, 1, 18}, named}, {"tgkill", []uint64{testPID, 1, 1<<32 | 18}, named}, {"tkill", []uint64{testPID, 18}, eperm}, {"tgkill", []uint64{testPID, 1, 64}, pass},
		// Locks are seen by others: on a device, by all programs of the host.
		{"fcntl", []uint64{1, unix.F_SETLK}, done}, {"fcntl", []uint64{1, unix.F_SETLKW}, done}, {"fcntl", []uint64{1, unix.F_GETLK}, eperm}, {"fcntl", []uint64{1, unix.F_OFD_SETLK}, eperm}, {"flock", nil, eperm},
		{"utimensat", nil, pass}, {"openat", []uint64{0, 0, unix.O_TRUNC}, pass},
		{"prctl", []uint64{unix.PR_SET_NAME}, pass}, {"prctl", []uint64{unix.PR_SET_DUMPABLE, 1}, eperm}, {"prctl", []uint64{unix.PR_SET_PDEATHSIG, 0}, eperm},
		{"prctl", []uint64{unix.PR_SET_SECCOMP, 2}, eperm},
		{"ioctl", []uint64{1, unix.TCGETS}, pass}, {"ioctl", []uint64{1, unix.TIOCSTI}, enotty}, {"fcntl", []uint64{1, unix.F_GETFL}, pass}, {"fcntl", []uint64{1, unix.F_SETOWN}, eperm},
		{"prlimit64", []uint64{0, 9}, pass}, {"prlimit64", []uint64{1, 9}, eperm}, {"personality", []uint64{queryPersona}, pass}, {"personality", []uint64{0x40000}, eperm},
		{"sendmsg", []uint64{3}, pass}, {"sendmsg", []uint64{4}, named}, {"seccomp", []uint64{1, 0}, pass}, {"seccomp", []uint64{1, 8}, named}, {"seccomp", []uint64{0, 0}, named},
		{"socket", []uint64{unix.AF_UNIX}, named}, {"execve", nil, named}, {"ptrace", nil, named}, {"io_uring_setup", nil, named}, {"setuid", nil, eperm}, {"listxattr", nil, seccomp.ActionErrno | seccomp.Action(unix.EOPNOTSUPP)},
	} {
		for goarch, info := range map[string]*arch.Info{"amd64": arch.X86_64, "arm64": arch.AARCH64} {
			f, err := newChildFilter(goarch, true, 3)
			if err != nil {
				t.Fatal(err)
			}
			nr, ok := info.SyscallNames[c.call]
			if !ok {
				t.Fatalf("%s: no call %q", goarch, c.call)
			}
			if got := answerOf(t, f.For(testPID), uint32(info.ID), uint32(nr), c.args...); got != c.want {
				t.Errorf("%s: %s(%x) answers %#x, want %#x", goarch, c.call, c.args, uint32(got), uint32(c.want))
			}
			quiet, err := newChildFilter(goarch, false, 3)
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			if want == named || c.call == "sendmsg" || c.call == "seccomp" {
				want = killed
			}
			if got := answerOf(t, quiet.For(testPID), uint32(info.ID), uint32(nr), c.args...); got != want {
				t.Errorf("%s without notification: %s(%x) answers %#x, want %#x", goarch, c.call, c.args, uint32(got), uint32(want))
			}
		}
	}
}

// TestHostFileRules: where files of the host can be named on mounts that can be
// written, what Landlock does not hold is refused.
func TestHostFileRules(t *testing.T) {
	const eperm = seccomp.ActionErrno | seccomp.Action(unix.EPERM)
	for _, c := range []struct {
		call string
		args []uint64
		want seccomp.Action
	}{
		{"utimensat", nil, eperm}, {"fchmod", nil, eperm}, {"fchmodat", nil, eperm}, {"truncate", nil, eperm},
		{"openat", []uint64{0, 0, unix.O_TRUNC}, eperm}, {"openat", []uint64{0, 0, unix.O_TRUNC | unix.O_CLOEXEC}, eperm},
		{"openat", []uint64{0, 0, unix.O_TRUNC | unix.O_WRONLY}, seccomp.ActionAllow}, {"openat", []uint64{0, 0, unix.O_TRUNC | unix.O_RDWR}, seccomp.ActionAllow},
		{"openat", []uint64{0, 0, unix.O_RDONLY}, seccomp.ActionAllow},
	} {
		for goarch, info := range map[string]*arch.Info{"amd64": arch.X86_64, "arm64": arch.AARCH64} {
			f, err := newChildFilter(goarch, true, 3, hostFileRules(true)...)
			if err != nil {
				t.Fatal(err)
			}
			if got := answerOf(t, f.For(testPID), uint32(info.ID), uint32(info.SyscallNames[c.call]), c.args...); got != c.want {
				t.Errorf("%s: %s(%x) answers %#x, want %#x", goarch, c.call, c.args, uint32(got), uint32(c.want))
			}
		}
	}
}

// TestSessionFilter: what cells go back to is the process that the filter was made
// for; they may neither signal it nor change its limits.
func TestSessionFilter(t *testing.T) {
	const eperm = seccomp.ActionErrno | seccomp.Action(unix.EPERM)
	for call, want := range map[string]seccomp.Action{
		"kill": seccomp.ActionUserNotify, "tgkill": seccomp.ActionUserNotify, "tkill": eperm, "prlimit64": eperm,
	} {
		f, err := NewSessionFilter(FilterOptions{Notify: true, ControlFD: 3})
		if err != nil {
			t.Fatal(err)
		}
		info, err := archOf(runtime.GOARCH)
		if err != nil {
			t.Fatal(err)
		}
		if got := answerOf(t, f.For(testPID), uint32(info.ID), uint32(info.SyscallNames[call]), testPID, 9, 9); got != want {
			t.Errorf("%s answers %#x, want %#x", call, uint32(got), uint32(want))
		}
	}
}

// TestForeignABIs: calls by another architecture's numbers end the process,
// whatever they are.
func TestForeignABIs(t *testing.T) {
	f, err := newChildFilter("amd64", true, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range [][]byte{f.Program, f.Seal} {
		for name, c := range map[string][2]uint32{
			"i386 exit": {uint32(arch.I386.ID), 1}, "x32 read": {uint32(arch.X86_64.ID), x32Bit}, "arm64 read": {uint32(arch.AARCH64.ID), 63}, "x32 beyond": {uint32(arch.X86_64.ID), ^uint32(0)},
		} {
			if got := answerOf(t, program, c[0], c[1]); got != seccomp.ActionKillProcess {
				t.Errorf("%s answers %#x", name, uint32(got))
			}
		}
	}
}

// TestRulesAreWellWritten: each name exists somewhere, none is decided twice,
// conditions have one call each, and every rule gives its reason.
func TestRulesAreWellWritten(t *testing.T) {
	settled := map[string]bool{}
	for _, r := range append(append(childRules(), handOverRules(3)...), append(sealRules(), runtimeRules()...)...) {
		names := strings.Fields(r.calls)
		if r.why == "" || len(names) == 0 {
			t.Errorf("rule %q has no reason or no call", r.calls)
		}
		if r.when != nil && len(names) != 1 {
			t.Errorf("rule %q: conditions on more than one call", r.calls)
		}
		for _, n := range names {
			_, a := arch.X86_64.SyscallNames[n]
			_, b := arch.AARCH64.SyscallNames[n]
			if !a && !b {
				t.Errorf("there is no system call %q", n)
			}
		}
	}
	for _, r := range childRules() {
		for _, n := range strings.Fields(r.calls) {
			if settled[n] {
				t.Errorf("%s stands behind a rule that settles it", n)
			}
			settled[n] = settled[n] || r.when == nil
		}
	}
}

func TestPIDSlots(t *testing.T) {
	f, err := NewChildFilter(FilterOptions{Notify: true, ControlFD: 3})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.PIDSlots) != 7 { // kill, tgkill, tkill twice each, prlimit64
		t.Errorf("%d places for the process's number, want 7", len(f.PIDSlots))
	}
	if slices.ContainsFunc(instructions(t, f.For(testPID)), func(i bpf.Instruction) bool { j, ok := i.(bpf.JumpIf); return ok && j.Val == ownPID }) {
		t.Error("a place was left unfilled")
	}
}

func TestSyscallName(t *testing.T) {
	if got := SyscallName(unix.SYS_SOCKET); got != "socket" {
		t.Errorf("socket is called %q", got)
	}
	if got := SyscallName(100_000); got != "number 100000" {
		t.Errorf("an unknown call is called %q", got)
	}
}

// call is a system call that a confined test process makes.
type call struct {
	name string
	nr   uintptr
	args [3]uintptr
}

func callsForTest() []call {
	return []call{
		{"socket", unix.SYS_SOCKET, [3]uintptr{unix.AF_INET, unix.SOCK_STREAM, 0}},
		{"execve", unix.SYS_EXECVE, [3]uintptr{}},
		{"clone", unix.SYS_CLONE, [3]uintptr{uintptr(unix.SIGCHLD)}},
		{"kill", unix.SYS_KILL, [3]uintptr{1, 0}},
		{"ptrace", unix.SYS_PTRACE, [3]uintptr{unix.PTRACE_TRACEME}},
		{"unshare", unix.SYS_UNSHARE, [3]uintptr{unix.CLONE_NEWUSER}},
		{"memfd_create", unix.SYS_MEMFD_CREATE, [3]uintptr{}},
		{"io_uring_setup", unix.SYS_IO_URING_SETUP, [3]uintptr{}},
		{"bpf", unix.SYS_BPF, [3]uintptr{}},
		{"getpid", unix.SYS_GETPID, [3]uintptr{}},
		{"clone3", unix.SYS_CLONE3, [3]uintptr{}},
		{"setuid", unix.SYS_SETUID, [3]uintptr{0}},
	}
}

// fence plays the confined process: args[0] is how the filter is to be
// installed (notify, kill or none; lax for the one of trusted programs, lax+notify
// for both), args[1] the call to make. It tells the
// call's errno and exits 7.
func fence(args []string) int {
	runtime.LockOSThread()
	var err error
	if strings.HasPrefix(args[0], "lax") {
		err = errors.Join(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), raiseSeccomp(&order{Seccomp: true}))
	}
	if args[0] != "none" && args[0] != "lax" {
		var f ChildFilter
		f, err = NewChildFilter(FilterOptions{Notify: strings.HasSuffix(args[0], "notify"), ControlFD: 3})
		if err == nil {
			err = installOnThread(f)
		}
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for _, c := range callsForTest() {
		if c.name != args[1] {
			continue
		}
		r, _, e := unix.RawSyscall(c.nr, c.args[0], c.args[1], c.args[2])
		if c.name == "clone" && r == 0 && e == 0 {
			unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
		}
		fmt.Println(int(e))
	}
	return 7
}

// installOnThread does a ChildFilter's steps for the calling thread.
func installOnThread(f ChildFilter) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	listener, err := installFilter(f.For(os.Getpid()), f.Flags)
	if err != nil || f.Flags == 0 {
		return err
	}
	if err := unix.Sendmsg(f.ControlFD, []byte{0}, unix.UnixRights(listener), nil, 0); err != nil {
		return err
	}
	unix.Close(listener)
	_, err = installFilter(f.Seal, 0)
	return err
}

// fenced runs fence in a process and tells how it ended, what it said, and
// which calls its watcher named.
func fenced(t *testing.T, how, callName string) (state *os.ProcessState, said string, named []string) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	defer ours.Close()
	cmd := exec.Command(self(t), "inside:fence", how, callName)
	cmd.ExtraFiles = []*os.File{theirs}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	var watching sync.WaitGroup
	if strings.HasSuffix(how, "notify") {
		listener := receiveFile(t, ours)
		watching.Go(func() {
			err := Watch(context.Background(), listener, func(_ int, name string) {
				named = append(named, name)
				_ = cmd.Process.Kill()
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said += lines.Text()
	}
	_ = cmd.Wait()
	watching.Wait()
	return cmd.ProcessState, said, named
}

func receiveFile(t *testing.T, from *os.File) *os.File {
	t.Helper()
	conn, err := net.FileConn(from)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.(*net.UnixConn).ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		t.Fatalf("messages %v, %v", messages, err)
	}
	got, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(got) != 1 {
		t.Fatalf("descriptors %v, %v", got, err)
	}
	return os.NewFile(uintptr(got[0]), "listener")
}

// TestForbiddenCallEndsAndIsNamed: with the wall the process dies, and the call
// has its name where the kernel can tell; without it the same call comes back,
// with whatever errno.
func TestForbiddenCallEndsAndIsNamed(t *testing.T) {
	notify := Probe().Notify
	if !notify {
		t.Log("SKIPPED LOUDLY, in part: no user notification here, so no names")
	}
	outside := ""
	if _, said, _ := fenced(t, "none", "unshare"); said == fmt.Sprint(int(unix.EPERM)) {
		outside = said
	}
	for _, c := range callsForTest()[:9] {
		for _, how := range []string{"notify", "lax+notify"} {
			if !notify {
				continue
			}
			state, said, named := fenced(t, how, c.name)
			if c.name == "unshare" && said == outside {
				continue // an errno from a filter around this process wins
			}
			if status := state.Sys().(syscall.WaitStatus); status.Signal() != unix.SIGKILL || !slices.Equal(named, []string{c.name}) || said != "" {
				t.Errorf("%s (%s): %v, said %q, named %q", c.name, how, state, said, named)
			}
		}
		state, said, _ := fenced(t, "kill", c.name)
		if status := state.Sys().(syscall.WaitStatus); status.Signal() != unix.SIGSYS || said != "" {
			t.Errorf("%s without notification: %v, said %q", c.name, state, said)
		}
		state, said, _ = fenced(t, "none", c.name)
		if state.ExitCode() != 7 || said == "" {
			t.Errorf("%s without the wall: %v, said %q", c.name, state, said)
		}
	}
}

func TestHarmlessCallsGoOn(t *testing.T) {
	ways := []string{"kill"}
	if Probe().Notify {
		ways = append(ways, "notify")
	}
	for name, errno := range map[string]unix.Errno{"getpid": 0, "clone3": unix.ENOSYS, "setuid": unix.EPERM} {
		for _, how := range ways {
			state, said, named := fenced(t, how, name)
			if state.ExitCode() != 7 || said != fmt.Sprint(int(errno)) || named != nil {
				t.Errorf("%s (%s): %v, said %q, named %q", name, how, state, said, named)
			}
		}
	}
}

// TestLaxFilter denies a trusted program what it has no use for, and leaves the
// rest.
func TestLaxFilter(t *testing.T) {
	for name, errno := range map[string]unix.Errno{"socket": unix.ENOSYS, "ptrace": unix.ENOSYS, "bpf": unix.ENOSYS, "io_uring_setup": unix.ENOSYS, "getpid": 0, "clone": 0} {
		if state, said, _ := fenced(t, "lax", name); state.ExitCode() != 7 || said != fmt.Sprint(int(errno)) {
			t.Errorf("%s: %v, said %q, want %d", name, state, said, errno)
		}
	}
}
