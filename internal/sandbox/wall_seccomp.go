package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// planSeccomp puts the lax filter of runtimeRules around a trusted program. The
// strict one is for what that program forks: see ChildFilter.
func planSeccomp(s Spec, of Offer, o *order) Wall {
	w := Wall{Name: nameSeccomp}
	switch {
	case !s.Seccomp:
		return w
	case !of.Filter:
		w.Why = orElse(of.SeccompWhy, "the kernel takes no filters")
		return w
	}
	if _, err := archOf(runtime.GOARCH); err != nil {
		w.Why = err.Error()
		return w
	}
	o.Seccomp = true
	w.InForce, w.Mechanism = true, "seccomp filter of denied calls"
	return w
}

// deniedBelow denies a call and still lets a filter inside tell of it: of two
// filters' answers an errno wins over a notification, but a notification wins
// over this. Without a tracer, which nobody here can be, it answers ENOSYS.
const deniedBelow = seccomp.ActionTrace

// raiseSeccomp is the last thing before exec; only this thread will live on.
func raiseSeccomp(o *order) error {
	if !o.Seccomp {
		return nil
	}
	info, err := archOf(runtime.GOARCH)
	if err != nil {
		return err
	}
	code, err := assemble(info, runtimeRules(), deniedBelow, seccomp.ActionAllow)
	if err != nil {
		return err
	}
	_, err = installFilter(filterBytes(code), 0)
	return err
}

// runtimeRules are for programs that are trusted themselves: what they never
// need is denied, so that taking one over gains less. Everything else is
// allowed: a zygote must fork, mount and name other processes.
func runtimeRules() []rule {
	return []rule{
		{deed: allow, calls: "socket", when: oneOf(0, unix.AF_UNIX), why: "go-plugin's and the zygote's own sockets"},
		{deed: allow, calls: "socketpair", when: oneOf(0, unix.AF_UNIX), why: "the same"},
		{deed: forbid, calls: "socket socketpair", why: "no other family: not the network, not netlink, not vsock"},
		{deed: forbid, calls: "ptrace process_vm_readv process_vm_writev process_madvise kcmp pidfd_getfd", why: "other processes' memory and descriptors"},
		{deed: forbid, calls: "bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register", why: "large kernel interfaces that it has no use for"},
		{deed: forbid, calls: "add_key request_key keyctl name_to_handle_at open_by_handle_at lookup_dcookie fanotify_init quotactl quotactl_fd memfd_secret", why: "the same"},
		{deed: forbid, calls: "init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff acct syslog iopl ioperm settimeofday clock_settime clock_adjtime adjtimex vhangup", why: "the machine"},
	}
}

// installFilter gives the calling thread a filter, and returns the listener if
// the flags ask for one.
func installFilter(program []byte, flags uint32) (int, error) {
	prog := unix.SockFprog{
		Len:    uint16(len(program) / 8), //nolint:gosec // at most 4096
		Filter: (*unix.SockFilter)(unsafe.Pointer(&program[0])),
	}
	fd, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, uintptr(flags), uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(program)
	if e != 0 {
		return -1, fmt.Errorf("install a system call filter: %w", e)
	}
	return int(fd), nil
}

// probeSeccomp tries both kinds of filter, each of which allows everything.
func probeSeccomp() report {
	r := report{Ready: true}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	pass := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: uint32(seccomp.ActionAllow)}}
	program := unsafe.Slice((*byte)(unsafe.Pointer(&pass[0])), 8)
	if err == nil {
		_, err = installFilter(program, 0)
	}
	if r.Filter = err == nil; err != nil {
		r.Why = err.Error()
		return r
	}
	_, err = installFilter(program, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	if r.Notify = err == nil; err != nil {
		r.Why = "no user notification: " + err.Error()
	}
	return r
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
