package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// notification is the kernel's struct seccomp_notif.
type notification struct {
	id    uint64
	pid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

// response is the kernel's struct seccomp_notif_resp.
type response struct {
	id    uint64
	val   int64
	error int32
	flags uint32
}

// Watch supervises the processes that hold the filter whose listener this is.
// For each forbidden call it tells onForbidden the thread that made it, by its
// number in the caller's PID namespace (0: not visible there), and the call's
// name. onForbidden must end the process, by its pidfd, before it returns; the
// call is answered EPERM after that, and never carried out. Calls of
// onForbidden come one at a time.
//
// Watch takes the listener over and returns nil when the last of these
// processes is gone, or when ctx ends; from then on the kernel answers their
// forbidden calls ENOSYS.
func Watch(ctx context.Context, listener *os.File, onForbidden func(pid int, name string)) error {
	return watch(ctx, listener, func(n notification) response {
		onForbidden(int(n.pid), SyscallName(int(n.nr)))
		return refusal(unix.EPERM)
	})
}

// refusal is an answer without its id.
func refusal(e unix.Errno) response { return response{error: -int32(e)} } //nolint:gosec // an errno

// watch answers each notification; ids are filled in.
func watch(ctx context.Context, listener *os.File, judge func(notification) response) error {
	file, err := pollable(listener)
	if err != nil {
		return err
	}
	defer file.Close()
	defer context.AfterFunc(ctx, func() { _ = file.Close() })()
	conn, err := file.SyscallConn()
	if err != nil {
		return fmt.Errorf("watch for forbidden calls: %w", err)
	}
	for {
		var n notification
		var gone bool
		var failed error
		err := conn.Read(func(fd uintptr) (done bool) {
			done, gone, failed = next(int(fd), &n)
			return done
		})
		switch {
		case errors.Is(err, os.ErrClosed), gone:
			return nil
		case err != nil || failed != nil:
			return fmt.Errorf("watch for forbidden calls: %w", errors.Join(err, failed))
		case n.id == 0:
			continue
		}
		answer := judge(n)
		answer.id = n.id
		_ = conn.Control(func(fd uintptr) { // the thread may be gone, and has no need of an answer then
			_ = control(int(fd), unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&answer))
		})
	}
}

// pollable gives the listener to the runtime's poller; the one given is closed.
func pollable(listener *os.File) (*os.File, error) {
	defer listener.Close()
	fd, err := unix.FcntlInt(listener.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("watch for forbidden calls: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("watch for forbidden calls: %w", err)
	}
	return os.NewFile(uintptr(fd), "seccomp listener"), nil
}

// next takes a notification if there is one; done is false when one must wait.
// The descriptor's poll is asked first, since receiving blocks whatever its
// flags are. n.id stays 0 when the caller is gone meanwhile.
func next(fd int, n *notification) (done, gone bool, err error) {
	ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}} //nolint:gosec // a descriptor
	if _, err := unix.Poll(ready, 0); err != nil && !errors.Is(err, unix.EINTR) {
		return true, false, err
	}
	switch {
	case ready[0].Revents&unix.POLLIN != 0:
		err := control(fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(n))
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINTR) {
			err = nil
		}
		return true, false, err
	case ready[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0:
		return true, true, nil
	}
	return false, false, nil
}

func control(fd int, request uint, arg unsafe.Pointer) error {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(arg))
	if e != 0 {
		return e
	}
	return nil
}
