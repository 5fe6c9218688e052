package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"github.com/sluice-gateway/sluice/executor"
)

// image is one process that holds a session's state. At rest it is stopped.
//
// Nothing that such a process says is trusted: who it is comes from the kernel,
// and what became of its copies from the keeper.
type image struct {
	*child
	house *house
	pid   int // as this process sees it
	inner int // as the keeper does
}

// command is an order to an image: to be ready for a cell, or to be a fork.
type command struct {
	Checkpoint bool `json:"checkpoint"` // a copy is to take the order, if one can be made
	Only       bool `json:"only"`       // nobody takes it if not
	Fork       bool `json:"fork"`
}

// opening is the order that makes a keeper start its session.
type opening struct {
	Memory uint64 `json:"memory"` // bytes beyond the runtime's own; 0: no limit
}

// begun is what the process that took an order says.
type begun struct {
	Checkpoint bool   `json:"checkpoint"` // it is a copy
	Why        string `json:"why"`        // if not
}

const begunBytes = 1 << 10

// first starts a session in a new house.
func (h *house) first(ctx context.Context, memory uint64) (*image, error) {
	calls := h.keeper.z.ground.plan.SessionCalls
	img, _, err := h.grow(ctx, h.keeper, opening{Memory: memory}, func(img *image) error {
		listener, err := img.warmed(calls.named())
		if err == nil && listener != nil {
			go h.supervise(listener)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("start a session: %w", err)
	}
	if err := img.rest(); err != nil {
		img.discard()
		return nil, err
	}
	h.took = faulted(img.pid)
	return img, nil
}

// grow sends an order with new channels and returns the process that answers;
// meet, if any, hears it first.
func (h *house) grow(ctx context.Context, to *child, what any, meet func(*image) error) (*image, begun, error) {
	img := &image{house: h, child: &child{z: h.keeper.z, uid: h.keeper.uid, release: func() {}, ended: make(chan struct{})}}
	theirs, err := img.open()
	if err == nil {
		err = img.wantCredentials()
	}
	if err == nil {
		err = sendOrder(to, what, theirs)
	}
	closeAll(theirs)
	var b begun
	if err == nil {
		b, err = img.answer(ctx, meet)
	}
	switch {
	case err == nil:
		return img, b, nil
	case img.pidfd != nil:
		img.discard()
	default:
		img.closeFiles()
	}
	return nil, b, err
}

func (i *image) wantCredentials() error {
	raw, err := i.control.SyscallConn()
	if err == nil {
		var inner error
		err = raw.Control(func(fd uintptr) { inner = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PASSCRED, 1) }) //nolint:gosec // a descriptor
		err = errors.Join(err, inner)
	}
	if err != nil {
		return fmt.Errorf("ask for credentials: %w", err)
	}
	return nil
}

// answer waits for the process that took the order. The kernel tells its number.
func (i *image) answer(ctx context.Context, meet func(*image) error) (begun, error) {
	var b begun
	_ = i.control.SetReadDeadline(time.Now().Add(orderWithin))
	defer context.AfterFunc(ctx, func() { _ = i.control.SetReadDeadline(time.Unix(1, 0)) })()
	if meet != nil {
		if err := meet(i); err != nil {
			return b, err
		}
	}
	buf, oob := make([]byte, begunBytes), make([]byte, unix.CmsgSpace(unix.SizeofUcred))
	n, oobn, _, _, err := i.control.ReadMsgUnix(buf, oob)
	if err != nil {
		return b, fmt.Errorf("await a session's process: %w", errors.Join(context.Cause(ctx), err))
	}
	if n < 5 || kind(buf[0]) != frameBegun || int(binary.BigEndian.Uint32(buf[1:])) != n-5 {
		return b, fmt.Errorf("%w: no answer to an order", errFrame)
	}
	if err := json.Unmarshal(buf[5:n], &b, json.RejectUnknownMembers(true)); err != nil {
		return b, fmt.Errorf("%w: answer to an order: %w", errFrame, err)
	}
	if !b.Checkpoint && b.Why == declined {
		return b, errDeclined
	}
	cred, err := credentials(oob[:oobn])
	if err != nil {
		return b, err
	}
	_ = i.control.SetReadDeadline(time.Time{})
	return b, i.identify(int(cred.Pid))
}

func credentials(oob []byte) (*unix.Ucred, error) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("%w: no credentials", errForged)
	}
	cred, err := unix.ParseUnixCredentials(&messages[0])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errForged, err)
	}
	return cred, nil
}

// identify takes hold of the process with that number, which must be the
// keeper's own child: the number may be another's by now.
func (i *image) identify(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return fmt.Errorf("take hold of a session's process: %w", err)
	}
	i.pidfd = os.NewFile(uintptr(fd), "pidfd") //nolint:gosec // a descriptor is not negative
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return fmt.Errorf("look at a session's process: %w", err)
	}
	parent, err := field(status, "PPid:")
	if err != nil || parent != i.house.pid {
		i.pidfd.Close()
		i.pidfd = nil
		return fmt.Errorf("%w: its parent is another", errors.Join(errForged, err))
	}
	if i.inner, err = lastField(status, "NSpid:"); err != nil {
		return err
	}
	i.pid = pid
	i.house.watch(i)
	return nil
}

func (i *image) signal(s unix.Signal) {
	raw, err := i.pidfd.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _ = unix.PidfdSendSignal(int(fd), s, nil, 0) }) //nolint:gosec // a descriptor
}

// stopWithin bounds the time in which the kernel stops a process.
const stopWithin = 2 * time.Second

// rest stops the image and sees that it has stopped.
func (i *image) rest() error {
	i.signal(unix.SIGSTOP)
	begin := time.Now()
	for try := 0; ; try++ {
		if try > 8 {
			time.Sleep(50 * time.Microsecond)
		}
		switch state, err := i.state(); {
		case err != nil:
			return err
		case state == 'T':
			return nil
		case time.Since(begin) > stopWithin:
			return fmt.Errorf("stop a session: its process is in state %q", state)
		}
	}
}

func (i *image) state() (byte, error) {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(i.pid) + "/status")
	if err != nil {
		return 0, fmt.Errorf("look at a session's process: %w", err)
	}
	return stateOf(status)
}

// copyable says whether the image, which is stopped, can be copied: it has one
// thread, and its filter, if any, lets it.
func (i *image) copyable() bool {
	calls := i.z.ground.plan.SessionCalls
	if calls != nil && !calls.named() {
		return false
	}
	status, err := os.ReadFile("/proc/" + strconv.Itoa(i.pid) + "/status")
	if err != nil {
		return false
	}
	threads, err := field(status, "Threads:")
	return err == nil && threads == 1
}

// step lets the image take an order: a copy of it, or itself where it cannot be
// copied, comes back awake, and the image, if it was copied, is stopped again.
// An error other than errNotAtRest means that the session is lost.
func (i *image) step(ctx context.Context, c command) (*image, begun, error) {
	c.Checkpoint = i.copyable()
	if c.Only && !c.Checkpoint {
		return nil, begun{}, errNotAtRest
	}
	next, b, err := i.order(ctx, c)
	switch {
	case c.Only && errors.Is(err, errDeclined):
		if err := i.rest(); err != nil {
			return nil, b, err
		}
		return nil, b, errNotAtRest
	case err != nil:
		return nil, b, err
	case i.forged(next, b, c):
		next.discard()
		return nil, b, fmt.Errorf("%w: a copy that is none", errForged)
	case !b.Checkpoint:
		return next, b, nil
	}
	if err := i.rest(); err != nil {
		next.discard()
		return nil, b, err
	}
	return next, b, nil
}

// order wakes the image for an order. With a copy that was made and not handed over
// the session is lost.
func (i *image) order(ctx context.Context, c command) (*image, begun, error) {
	i.house.steps.Lock()
	defer i.house.steps.Unlock()
	if c.Checkpoint {
		i.house.allow(i.pid)
	}
	before, _ := i.measure()
	i.signal(unix.SIGCONT)
	next, b, err := i.house.grow(ctx, i.child, c, nil)
	var lost error
	if now, ok := i.measure(); ok && now.cpu-before.cpu > orderCPU {
		lost = fmt.Errorf("%w: it computed for %s when it was to take an order", errForged, now.cpu-before.cpu)
	}
	used := c.Checkpoint && i.house.disallow(i.pid)
	if used {
		lost = errors.Join(lost, i.accountFor())
	}
	if lost != nil {
		if next != nil {
			next.discard()
		}
		return nil, b, lost
	}
	if used && err == nil && !b.Checkpoint {
		i.signal(unix.SIGCONT) // there could be no copy: it goes on itself
	}
	return next, b, err
}

// orderCPU is much more processor time than an image has use for when it takes an
// order: a copy of a large one takes milliseconds.
const orderCPU = 2 * time.Second

// accountFor stops the image, which has used a permit up, so that no copy is on its
// way, and sees that there is none but images. One that does not stop is ended, as
// one may be at any time by whoever closes its session: that is no fault of the
// others in the house.
func (i *image) accountFor() error {
	err := i.rest()
	if err != nil {
		i.kill()
		i.gone()
	}
	return errors.Join(err, i.house.strays())
}

// forged tells that what came back does not fit what was said: a copy that is
// the image itself, or none that is another.
func (i *image) forged(next *image, b begun, c command) bool {
	if next.pid == i.pid {
		return b.Checkpoint || c.Only
	}
	return !b.Checkpoint
}

// declined is what an image says that makes no copy and takes the order for none.
const declined = "declined"

var errDeclined = errors.New("the session makes no copy")

// errNotAtRest is why a session cannot be forked now.
var errNotAtRest = fmt.Errorf("%w: a thread or a timer of an earlier cell is at work", executor.ErrSessionBusy)

// gone returns how an image that was killed, or has hung up, ended.
func (i *image) gone() exit {
	timer := time.NewTimer(endsWithin)
	defer timer.Stop()
	select {
	case <-i.ended:
		e := i.end
		e.forbidden = i.forbade()
		return e
	case <-timer.C:
		i.house.keeper.kill() // it does not say
		return exit{lost: true}
	}
}
