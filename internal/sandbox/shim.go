package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// marker is the first argument by which a program knows that it is its own
// shim; the second is the descriptor of the control socket.
const marker = "__sandbox-shim"

// maxOrder bounds the order that a shim reads, in bytes.
const maxOrder = 4 << 20

// report is what a shim tells its parent. A shim that execs says Ready and then
// nothing; one that only probes says what it could do.
type report struct {
	Ready     bool   `json:",omitempty"`
	Error     string `json:",omitempty"`
	FreshProc bool   `json:",omitempty"`
	Pivot     bool   `json:",omitempty"`
	Filter    bool   `json:",omitempty"`
	Notify    bool   `json:",omitempty"`
	Why       string `json:",omitempty"`
}

// Shim must be the first call in the main function of a program that starts
// commands by this package (and in TestMain). When args, the program's own,
// mark this process as a shim, it raises the walls and becomes the command, or
// returns isShim and the code to exit with. Otherwise it returns at once.
func Shim(args []string) (code int, isShim bool) {
	if len(args) != 3 || args[1] != marker {
		return 0, false
	}
	runtime.LockOSThread()
	fd, err := strconv.Atoi(args[2])
	if err != nil || fd < 3 {
		return 2, true
	}
	control := os.NewFile(uintptr(fd), "control")
	if control == nil {
		return 2, true
	}
	if err := serveShim(control); err != nil {
		tell(control, report{Error: err.Error()})
	}
	return 1, true
}

func serveShim(control *os.File) error {
	data, err := io.ReadAll(io.LimitReader(control, maxOrder))
	if err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	var o order
	if err := json.Unmarshal(data, &o); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	if o.Probe != "" {
		tell(control, probeInside(&o))
		return nil
	}
	if err := raiseAll(&o); err != nil {
		return err
	}
	if err := unix.Chdir(o.Dir); err != nil {
		return fmt.Errorf("enter directory %q: %w", o.Dir, err)
	}
	if orphaned(control) {
		return errors.New("parent is gone")
	}
	tell(control, report{Ready: true})
	return become(&o)
}

func raiseAll(o *order) error {
	list := walls()
	for _, name := range raising() {
		for _, w := range list {
			if w.name != name || w.raise == nil {
				continue
			}
			if err := w.raise(o); err != nil {
				return fmt.Errorf("raise wall %q: %w", name, err)
			}
		}
	}
	return nil
}

// orphaned tells whether the parent died before its death could be tied to
// ours; getppid does not know it across a PID namespace.
func orphaned(control *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(control.Fd())}}
	_, _ = unix.Poll(fds, 0)
	return fds[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0
}

func become(o *order) error {
	// SIGHUP and SIGINT may have come ignored; a handler makes exec reset them.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT)
	path := o.Path
	if o.ExeFD != 0 {
		path = "/proc/self/fd/" + strconv.Itoa(o.ExeFD)
	}
	err := syscall.Exec(path, o.Args, o.Env)
	return fmt.Errorf("execute %q: %w", o.Path, err)
}

func tell(control *os.File, r report) {
	data, err := json.Marshal(r)
	if err == nil {
		_, _ = control.Write(append(data, '\n')) // a parent that is gone needs no report
	}
}
