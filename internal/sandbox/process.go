package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// raiseTimeout is how long a shim may take.
const raiseTimeout = 10 * time.Second

// ErrEnded is returned for a signal to a command that has ended.
var ErrEnded = errors.New("command has ended")

// Process is a command that runs. Its methods may be called from several
// goroutines.
type Process struct {
	pid   int
	pidfd int
	walls []Wall
	group *Groups // nil: none
	done  chan struct{}

	mu    sync.Mutex
	ended bool
	state State
}

// State is how a command ended.
type State struct {
	Code   int            // exit status; -1 when a signal ended it
	Signal syscall.Signal // 0: none
	CPU    time.Duration  // user and system time, with its reaped children's
	MaxRSS uint64         // bytes
}

// String says it in words.
func (s State) String() string {
	if s.Signal != 0 {
		return "ended by signal " + unix.SignalName(s.Signal)
	}
	return "exit status " + strconv.Itoa(s.Code)
}

// Start runs the command. It returns when the walls stand and the program has
// been executed, or with the first thing that went wrong. The caller's files
// may be closed after it. The command dies with the calling process.
func (l Launch) Start() (*Process, error) {
	if l.order.Root != nil {
		steps, err := planBinds(l.spec.ReadOnly, lookOS)
		if err != nil {
			return nil, err
		}
		root := *l.order.Root
		root.Steps = steps
		l.order.Root = &root
	}
	p, reports, err := l.spawn()
	if err != nil {
		return nil, err
	}
	if err := verdictOf(reports); err != nil {
		p.Kill()
		<-p.Done()
		return nil, fmt.Errorf("start %q: %w", l.spec.Path, err)
	}
	p.walls = l.Walls()
	return p, nil
}

// verdictOf reads a shim's reports: ready and then silence is good.
func verdictOf(reports []report) error {
	for _, r := range reports {
		if r.Error != "" {
			return errors.New(r.Error)
		}
	}
	if len(reports) != 1 || !reports[0].Ready {
		return errors.New("shim ended before it executed the command (does main call sandbox.Shim first?)")
	}
	return nil
}

// spawn forks the shim, hands it its order and collects what it reports until
// it execs or exits.
func (l Launch) spawn() (*Process, []report, error) {
	ours, theirs, err := controlPair()
	if err != nil {
		return nil, nil, err
	}
	defer ours.Close()
	p := &Process{pidfd: -1, done: make(chan struct{})}
	started := make(chan error, 1)
	go p.live(l, theirs, started)
	err = <-started
	_ = theirs.Close()
	if err != nil {
		return nil, nil, err
	}
	reports, err := converse(ours, l.order)
	if err != nil {
		p.Kill()
		<-p.Done()
		return nil, nil, err
	}
	return p, reports, nil
}

// controlPair makes the socket pair between parent and shim; ours has
// deadlines, theirs blocks.
func controlPair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make the control socket: %w", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, nil, fmt.Errorf("make the control socket: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control"), nil
}

func converse(ours *os.File, o order) ([]report, error) {
	if err := ours.SetDeadline(time.Now().Add(raiseTimeout)); err != nil {
		return nil, fmt.Errorf("set the shim's deadline: %w", err)
	}
	data, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("write the order: %w", err)
	}
	if _, err := ours.Write(data); err != nil {
		return nil, fmt.Errorf("write the order: %w", err)
	}
	raw, err := ours.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("write the order: %w", err)
	}
	if err := raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_WR) }); err != nil {
		return nil, fmt.Errorf("write the order: %w", err)
	}
	var reports []report
	for dec := json.NewDecoder(io.LimitReader(ours, maxOrder)); ; {
		var r report
		if err := dec.Decode(&r); err != nil {
			return reports, unlessEOF(err)
		}
		reports = append(reports, r)
	}
}

func unlessEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET) {
		return nil
	}
	return fmt.Errorf("read the shim's report: %w", err)
}

// live starts the command and waits for its end on one thread of its own: the
// kernel sends the parent-death signal when the forking thread ends, not the
// process.
func (p *Process) live(l Launch, control *os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.done)
	defer p.leave()
	if err := p.enter(l, control); err != nil {
		started <- err
		return
	}
	started <- nil
	p.reap()
}

// enter forks the shim and moves it into its control group, while it waits for
// its order.
func (p *Process) enter(l Launch, control *os.File) error {
	if !l.order.Group {
		return p.fork(l, control)
	}
	var err error
	if p.group, err = OpenGroups(l.spec.Group); err != nil {
		return err
	}
	main, err := p.group.New(groupMain, l.spec.GroupLimits)
	if err != nil {
		return err
	}
	if err := p.fork(l, control); err != nil {
		return err
	}
	if err := main.Add(p.pid); err != nil {
		p.Kill()
		p.reap()
		return err
	}
	return nil
}

// leave removes the control group. What cannot be removed is swept by the next
// one that starts.
func (p *Process) leave() {
	if p.group != nil {
		_ = p.group.Close()
	}
}

func (p *Process) fork(l Launch, control *os.File) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	defer null.Close()
	files := append(l.spec.files(null), control)
	if l.spec.Exe != nil {
		files = append(files, l.spec.Exe)
	}
	fds := make([]uintptr, len(files))
	for i, f := range files {
		fds[i] = f.Fd()
	}
	controlFD := strconv.Itoa(3 + len(l.spec.Files))
	p.pid, err = syscall.ForkExec("/proc/self/exe", []string{"sandbox", marker, controlFD}, &syscall.ProcAttr{
		Dir: "/", Env: []string{}, Files: fds, Sys: l.attributes(&p.pidfd),
	})
	runtime.KeepAlive(files)
	if err != nil {
		return fmt.Errorf("fork with namespaces %v: %w", l.order.Namespaces, err)
	}
	return nil
}

func (l Launch) attributes(pidfd *int) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{
		Setsid: true, Pdeathsig: unix.SIGKILL, PidFD: pidfd,
		Cloneflags: cloneFlags(l.order.Namespaces, l.order.UserNS),
	}
	if !l.order.UserNS {
		return attr
	}
	uid, gid := os.Geteuid(), os.Getegid()
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	// The shim keeps rights inside the namespace over its own exec.
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	for _, c := range l.order.KeepCaps {
		if !slices.Contains(attr.AmbientCaps, uintptr(c)) {
			attr.AmbientCaps = append(attr.AmbientCaps, uintptr(c))
		}
	}
	return attr
}

// reap waits for the end, kills what is left of the group while the number is
// still taken, and notes how it ended.
func (p *Process) reap() {
	for {
		err := unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = unix.Kill(-p.pid, unix.SIGKILL)
	var status unix.WaitStatus
	var usage unix.Rusage
	for {
		if _, err := unix.Wait4(p.pid, &status, 0, &usage); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.ended = true
	p.state = State{
		Code: status.ExitStatus(), CPU: time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), MaxRSS: uint64(usage.Maxrss) << 10,
	}
	if status.Signaled() {
		p.state.Code, p.state.Signal = -1, status.Signal()
	}
	if p.pidfd >= 0 {
		_ = unix.Close(p.pidfd)
	}
}

// PID is the command's number in the caller's PID namespace.
func (p *Process) PID() int { return p.pid }

// PIDFD is a descriptor of the command, or -1 on kernels without; it is closed
// when Done is.
func (p *Process) PIDFD() int { return p.pidfd }

// Done is closed when the command has ended and been reaped, and its group and
// PID namespace with it.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for Done and says how the command ended.
func (p *Process) Wait() State {
	<-p.done
	return p.state
}

// Walls says which walls stand around the command, in the list's order.
func (p *Process) Walls() []Wall { return slices.Clone(p.walls) }

// Signal sends sig to the command alone; ErrEnded when it has ended.
func (p *Process) Signal(sig syscall.Signal) error { return p.signal(p.pid, sig) }

// Kill ends the command and its process group, and by that its PID namespace.
// It does not wait and may be called at any time.
func (p *Process) Kill() {
	_ = p.signal(-p.pid, unix.SIGKILL)
	_ = p.signal(p.pid, unix.SIGKILL)
}

func (p *Process) signal(pid int, sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return ErrEnded
	}
	if err := unix.Kill(pid, sig); err != nil {
		return fmt.Errorf("signal command: %w", err)
	}
	return nil
}

func lookOS(p string) (fs.FileMode, string, error) {
	info, err := os.Lstat(p)
	if err != nil {
		return 0, "", err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return info.Mode(), "", nil
	}
	link, err := os.Readlink(p)
	return info.Mode(), link, err
}
