package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// measure takes a living child's processor time and peak memory from the
// kernel. ok is false where /proc does not show the child.
func (c *child) measure() (e exit, ok bool) {
	pid, err := c.pid()
	if err != nil {
		return exit{}, false
	}
	var ts unix.Timespec
	if err := unix.ClockGettime(cpuClock(pid), &ts); err != nil {
		return exit{}, false
	}
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return exit{}, false
	}
	kib, err := field(status, "VmHWM:")
	if err != nil {
		return exit{}, false
	}
	return exit{cpu: time.Duration(ts.Nano()), rss: uint64(kib) << 10}, true //nolint:gosec // field gives no negative number
}

// pid is the child's number in this process's PID namespace.
func (c *child) pid() (int, error) {
	raw, err := c.pidfd.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("find a child's number: %w", err)
	}
	var info []byte
	var readErr error
	if err := raw.Control(func(fd uintptr) { info, readErr = os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd)) }); err != nil {
		return 0, fmt.Errorf("find a child's number: %w", err)
	}
	if readErr != nil {
		return 0, fmt.Errorf("find a child's number: %w", readErr)
	}
	pid, err := field(info, "Pid:")
	if err == nil && pid <= 0 {
		err = fmt.Errorf("find a child's number: it is %d", pid)
	}
	return pid, err
}

// lastField is the last number behind a name in a file of /proc.
func lastField(text []byte, name string) (int, error) {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			if words := bytes.Fields(rest); len(words) > 0 {
				return strconv.Atoi(string(words[len(words)-1]))
			}
		}
	}
	return 0, fmt.Errorf("read %s: it is not there", name)
}

// stateOf is the letter of a process's state in its status file.
func stateOf(text []byte) (byte, error) {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte("State:")); ok {
			if rest = bytes.TrimSpace(rest); len(rest) > 0 {
				return rest[0], nil
			}
		}
	}
	return 0, errors.New("read State: it is not there")
}

// cpuClock is the clock of a process's time on all its threads, as the kernel's
// MAKE_PROCESS_CPUCLOCK and CPUCLOCK_SCHED make it.
func cpuClock(pid int) int32 { return int32(^uint32(pid)<<3 | 2) } //nolint:gosec // bits

// field is the number behind a name in a file of /proc.
func field(text []byte, name string) (int, error) {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			words := bytes.Fields(rest)
			if len(words) == 0 {
				break
			}
			n, err := strconv.Atoi(string(words[0]))
			if err == nil && n < 0 && name != "Pid:" {
				break
			}
			return n, err
		}
	}
	return 0, fmt.Errorf("read %s: it is not there", name)
}
