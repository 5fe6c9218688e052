package wire

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/sluice-gateway/sluice/executor"
)

func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// socketPair makes both ends of a worker's connection.
func socketPair() (ours net.Conn, theirs *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	file := os.NewFile(uintptr(fds[0]), "ours")
	defer file.Close()
	theirs = os.NewFile(uintptr(fds[1]), "theirs")
	if ours, err = net.FileConn(file); err != nil {
		_ = theirs.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

// processorOf is the processor time that a process has taken; 0: not known.
func processorOf(pid int) time.Duration {
	var spent syscall.Timespec
	clock := ^pid<<3 | 2 // clock_getcpuclockid(3)
	if _, _, fault := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, uintptr(clock), uintptr(unsafe.Pointer(&spent)), 0); fault != 0 {
		return 0
	}
	return time.Duration(spent.Nano())
}

// peakOf is the most resident memory that a process had, in bytes; 0: not known.
func peakOf(pid int) uint64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "\nVmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, err := strconv.ParseUint(fields[0], 10, 54)
	if err != nil {
		return 0
	}
	return kib << 10
}

// peakAt is peakOf for a process that has ended.
func peakAt(state *os.ProcessState) uint64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok || usage.Maxrss < 0 {
		return 0
	}
	return uint64(usage.Maxrss) << 10
}

// Resources of prlimit(2) that package syscall does not name.
const (
	rlimitCPU  = 0
	rlimitData = 2
)

// boundProcess is the second line behind what looks at the process from outside:
// a limit on its data, far enough above that the first line tells the cause, and
// on its processor time, in whole seconds.
func boundProcess(pid int, l executor.Limits) {
	const spare = 256 << 20
	if l.MemoryBytes > 0 {
		setLimit(pid, rlimitData, 2*l.MemoryBytes+spare)
	}
	if l.CPU > 0 {
		setLimit(pid, rlimitCPU, uint64((l.CPU+time.Second-1)/time.Second)+1)
	}
}

func setLimit(pid, resource int, n uint64) {
	limit := syscall.Rlimit{Cur: n, Max: n}
	_, _, _ = syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), uintptr(resource), uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
}
