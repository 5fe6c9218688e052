package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/sandbox"
)

// child is one forked interpreter, made for one submission.
type child struct {
	z       *zygote
	uid     int  // 0: the zygote's own
	keeper  bool // of a session
	pidfd   *os.File
	control *net.UnixConn
	stdin   *os.File
	stdout  *os.File
	stderr  *os.File
	release func() // gives the uid back; called once, when the child has ended

	fold    *fold // nil: none
	threads threads

	forbidden atomic.Pointer[string] // the system call that ended it

	ended chan struct{} // closed when how it ended is known
	end   exit
	once  sync.Once
}

// exit is how a child ended, as its zygote saw it.
type exit struct {
	lost   bool // the zygote went first: nobody saw it
	memory bool // the kernel ended it because its control group's memory was used up

	forbidden string // the system call that it was ended for
	status    syscall.WaitStatus
	cpu       time.Duration
	rss       uint64
}

// warmWithin bounds the time from fork to a warm child.
const warmWithin = 20 * time.Second

// spawn forks a child of z and waits until it is warm. release is called once,
// when the child has ended, also when there never was one. With session the child
// is a session's keeper.
func (z *zygote) spawn(uid int, release func(), session bool) (*child, error) {
	c := &child{z: z, uid: uid, keeper: session, release: release, ended: make(chan struct{})}
	theirs, err := c.open()
	var pidfd *os.File
	if err == nil {
		pidfd, err = z.fork(c, uid, theirs, session)
	}
	closeAll(theirs) // the child's alone: their end is its end
	if err != nil {
		c.closeFiles()
		c.finish(exit{lost: true})
		return nil, err
	}
	c.pidfd = pidfd
	if err := c.warm(); err != nil {
		err = fmt.Errorf("warm a child: %w%s", err, c.lastWord())
		c.discard()
		return nil, err
	}
	return c, nil
}

// warm lets the child begin and waits until it has raised its last wall.
func (c *child) warm() error {
	if err := c.enfold(); err != nil {
		return err
	}
	_ = c.control.SetReadDeadline(time.Now().Add(warmWithin))
	c.send(appendFrame(nil, frameGo, nil))
	listener, err := c.warmed(!c.keeper && c.z.ground.plan.Calls.named())
	if err != nil {
		return err
	}
	if listener != nil {
		go c.watch(listener)
	}
	return c.control.SetReadDeadline(time.Time{})
}

// warmed takes the word that it is warm, and the listener with it.
func (c *child) warmed(named bool) (*os.File, error) {
	head, oob := make([]byte, 5), make([]byte, unix.CmsgSpace(4*8)+unix.CmsgSpace(unix.SizeofUcred))
	n, oobn, _, _, err := c.control.ReadMsgUnix(head, oob)
	if err != nil {
		return nil, errors.Join(errFrame, err)
	}
	listener, err := oneDescriptor(oob[:oobn])
	if err != nil {
		return nil, err
	}
	switch {
	case n != len(head) || kind(head[0]) != frameWarmed:
		err = fmt.Errorf("%w: %q in place of a word that it is warm", errFrame, head[:n])
	case named != (listener != nil):
		err = fmt.Errorf("%w: listener %v, wanted %v", errFrame, listener != nil, named)
	}
	if err != nil && listener != nil {
		listener.Close()
		listener = nil
	}
	return listener, err
}

// watch ends the child at its first forbidden system call, until the last of
// what it was is gone.
func (c *child) watch(listener *os.File) {
	err := sandbox.Supervise(context.Background(), listener, func(call sandbox.Call) bool {
		if call.StartsThread() {
			return c.threads.room(call.PID)
		}
		c.forbidden.CompareAndSwap(nil, &call.Name)
		c.kill()
		return false
	})
	if err != nil {
		c.z.log.Error("forbidden calls are not watched for; the child is ended", "error", err)
		c.kill()
	}
}

// open makes the child's four channels and returns the far ends.
func (c *child) open() (theirs []*os.File, err error) {
	ours, far, err := socketPair(unix.SOCK_STREAM)
	if err != nil {
		return nil, err
	}
	theirs = append(theirs, far)
	if c.control, err = packetConn(ours); err != nil {
		return theirs, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return theirs, fmt.Errorf("make a pipe: %w", err)
	}
	c.stdin, theirs = write, append(theirs, read)
	for _, end := range []**os.File{&c.stdout, &c.stderr} {
		read, write, err := os.Pipe()
		if err != nil {
			return theirs, fmt.Errorf("make a pipe: %w", err)
		}
		*end, theirs = read, append(theirs, write)
	}
	return theirs, nil
}

func closeAll[F io.Closer](files []F) {
	for _, f := range files {
		f.Close()
	}
}

func (c *child) closeFiles() {
	if c.control != nil {
		c.control.Close()
	}
	for _, f := range []*os.File{c.stdin, c.stdout, c.stderr} {
		if f != nil {
			f.Close()
		}
	}
}

// kill ends the child at once. It does nothing to a child that has ended.
func (c *child) kill() { c.signal(unix.SIGKILL) }

func (c *child) signal(s unix.Signal) {
	raw, err := c.pidfd.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _ = unix.PidfdSendSignal(int(fd), s, nil, 0) }) //nolint:gosec // a descriptor
}

// finish records how the child ended; only the first call counts.
func (c *child) finish(e exit) {
	c.once.Do(func() {
		c.end = e
		close(c.ended)
		c.release()
	})
}

// discard ends the child and frees all that it held; what takes until it has
// ended is not waited for.
func (c *child) discard() {
	c.kill()
	c.closeFiles()
	c.pidfd.Close()
	if c.fold != nil {
		go c.unfold()
	}
}

// alive says whether the child has not been seen to end.
func (c *child) alive() bool {
	select {
	case <-c.ended:
		return false
	default:
		return true
	}
}

// endsWithin bounds the time from the last sign of a child to its zygote's
// report.
const endsWithin = 2 * time.Second

// await returns how the child ended, or an exit that says it is lost.
func (c *child) await() exit {
	timer := time.NewTimer(endsWithin)
	defer timer.Stop()
	select {
	case <-c.ended:
		e := c.end
		e.memory = e.status.Signaled() && c.outOfMemory()
		e.forbidden = c.forbade()
		return e
	case <-timer.C:
		c.z.log.Error("a child has ended and its interpreter does not say how")
		c.z.kill()
		return exit{lost: true}
	}
}

// forbade is the system call that the child was ended for, or nothing.
func (c *child) forbade() string {
	if name := c.forbidden.Load(); name != nil {
		return *name
	}
	return ""
}

// send writes frames. A child that is gone is noticed by the next read.
func (c *child) send(buf []byte) { _, _ = c.control.Write(buf) }

// errLost says that a child ended through no fault of its submission.
var errLost = errors.New("the interpreter ended under the submission")

// parse hands the submission over and returns its tree. ctx ends the child.
func (c *child) parse(ctx context.Context, what ask, code []byte) (executor.Tree, error) {
	header, err := json.Marshal(what, json.FormatNilSliceAsNull(true))
	if err != nil {
		return executor.Tree{}, fmt.Errorf("write the source frame: %w", err)
	}
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	c.send(appendFrame(appendFrame(nil, frameSource, header), frameCode, code))
	k, payload, err := readFrame(c.control, frameLimits(what.MaxTreeBytes, 0))
	if ctx.Err() != nil {
		return executor.Tree{}, context.Cause(ctx)
	}
	if errors.Is(err, errFrame) {
		return executor.Tree{}, err
	}
	if err != nil {
		return executor.Tree{}, c.parseDeath()
	}
	switch k {
	case frameTree:
		return parseTree(payload)
	case frameTooLarge:
		return executor.Tree{}, executor.ErrTreeTooLarge
	case frameCompileError:
		p, err := parseProblem(payload)
		if err != nil {
			return executor.Tree{}, err
		}
		return executor.Tree{}, &executor.CompileError{Problem: p}
	}
	return executor.Tree{}, fmt.Errorf("%w: kind %q in place of a tree", errFrame, byte(k))
}

// parseDeath says why a child ended while it parsed, or made code of what it had parsed.
// One that was killed and that the kernel did not kill for its memory was ended by
// somebody else: nothing of the submission has run, so that another may take it.
func (c *child) parseDeath() error {
	switch e := c.await(); {
	case e.lost:
		return errLost
	case e.forbidden != "":
		return fmt.Errorf("parse: the child was ended for system call %s", e.forbidden)
	case e.status.Signaled() && e.status.Signal() == syscall.SIGXCPU:
		return executor.ErrCPU
	case e.status.Signaled() && e.status.Signal() != syscall.SIGKILL:
		return &executor.CompileError{Problem: executor.Problem{
			Type: "RecursionError", Message: "the text is too deep or too large to parse",
		}}
	case e.memory:
		return executor.ErrMemory
	case e.status.Signaled():
		return errLost
	default:
		return fmt.Errorf("parse: the child left with exit code %d", e.status.ExitStatus())
	}
}
