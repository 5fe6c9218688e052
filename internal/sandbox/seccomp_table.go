package sandbox

import (
	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// deed is what a filter does about a system call.
type deed uint8

const (
	absent deed = iota // ENOSYS: the default; libraries fall back to older calls
	allow
	refuse  // EPERM, where a library expects that and goes on
	pretend // 0, as if it had been done; it is not
	notHere // EOPNOTSUPP, what a file system without that feature says
	notTTY  // ENOTTY, the answer of ioctl on what is no terminal
	forbid  // ends the process, and is named where the kernel can tell
)

// rule says what becomes of some system calls. The first rule that fits
// decides. A name that an architecture lacks is left out there.
type rule struct {
	deed  deed
	calls string                       // names, separated by spaces
	when  []seccomp.ArgumentConditions // the rule fits when all conditions of one of these hold; nil: always
	why   string
}

// Conditions on an argument, numbered from 0.
func is(arg uint32, value uint64) seccomp.Condition {
	return seccomp.Condition{Argument: arg, Operation: seccomp.Equal, Value: value}
}

// all is one set of conditions.
func all(conditions ...seccomp.Condition) seccomp.ArgumentConditions { return conditions }

// oneOf fits when the argument has one of the values.
func oneOf(arg uint32, values ...uint64) []seccomp.ArgumentConditions {
	sets := make([]seccomp.ArgumentConditions, 0, len(values))
	for _, v := range values {
		sets = append(sets, all(is(arg, v)))
	}
	return sets
}

// signalsTo fits signals to one process but SIGCONT, by which it would go on when it
// is stopped. The kernel takes 32 bits for a number and here are 64: what is no
// signal's number does not fit.
func signalsTo(pid uint64, argument uint32) []seccomp.ArgumentConditions {
	than := func(operation seccomp.Operation, value uint64) seccomp.Condition {
		return seccomp.Condition{Argument: argument, Operation: operation, Value: value}
	}
	return []seccomp.ArgumentConditions{
		all(is(0, pid), than(seccomp.LessThan, uint64(unix.SIGCONT))),
		all(is(0, pid), than(seccomp.GreaterThan, uint64(unix.SIGCONT)), than(seccomp.LessOrEqual, lastSignal)),
	}
}

const (
	lastSignal = 64

	// ownPID stands in a filter for the number of the process that installs
	// it; see ChildFilter.PIDSlots. No process has it (the kernel's most is 1<<22).
	ownPID = 0x5EEDF11D

	// What pthread_create passes to clone: VM, FS, FILES, SIGHAND, THREAD,
	// SYSVSEM, SETTLS, PARENT_SETTID, CHILD_CLEARTID; musl adds DETACHED.
	threadFlags     = 0x3d0f00
	threadFlagsMusl = 0x7d0f00

	tcgets2, fioclex, fionclex, fionbio, fionread = 0x802C542A, 0x5451, 0x5450, 0x5421, 0x541B // asm-generic: amd64 and arm64

	prSetVMA     = 0x53564d61 // PR_SET_VMA
	queryPersona = 0xffffffff
)

// childRules is the written list for a process that runs a submission. What is
// in none of them answers ENOSYS.
func childRules() []rule {
	return append(append(append(allowedRules(), checkedRules()...), refusedRules()...), forbiddenRules()...)
}

// allowedRules pass whatever their arguments. A call is here because CPython,
// glibc or musl, NumPy, SymPy or Plotly made it in the benign corpus or on the
// libraries' common paths (see TestBenignCalls), or because it is its twin on the other
// C library or architecture.
func allowedRules() []rule {
	return []rule{
		{deed: allow, calls: "brk mmap munmap mremap mprotect madvise membarrier", why: "memory of its own: malloc, arenas, lazily loaded libraries; bounded by the cgroup"},
		{deed: allow, calls: "futex futex_waitv set_robust_list get_robust_list rseq set_tid_address gettid sched_yield getcpu arch_prctl", why: "threads: locks, thread-local storage, start and end"},
		{deed: allow, calls: "exit exit_group restart_syscall wait4 waitid", why: "ending; waiting for children that it cannot have answers ECHILD"},
		{deed: allow, calls: "rt_sigaction rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_sigpending sigaltstack pause alarm setitimer getitimer", why: "its own signals and timers: the signal module, faulthandler"},
		{deed: allow, calls: "clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times", why: "reading clocks (where the vDSO cannot) and sleeping"},
		{deed: allow, calls: "getrandom", why: "seeds: random, numpy.random, hash secrets"},
		{deed: allow, calls: "getpid getppid getuid geteuid getgid getegid getresuid getresgid getgroups getpgrp getpgid getsid uname sysinfo getrusage getrlimit getpriority sched_getaffinity sched_getparam sched_getscheduler sched_get_priority_max sched_get_priority_min",
			why: "asking who and where it is; sysinfo is sysconf's, sched_* is pthread_getattr_np's and os.cpu_count's"},
		{deed: allow, calls: "read readv pread64 preadv preadv2 write writev pwrite64 pwritev pwritev2 lseek close close_range dup dup2 dup3 pipe pipe2 fsync fdatasync ftruncate fallocate fadvise64",
			why: "using descriptors that it has; no new object but a pipe comes of it"},
		{deed: allow, calls: "open openat access faccessat faccessat2 stat lstat fstat newfstatat statx readlink readlinkat getdents getdents64 getcwd chdir fchdir umask",
			why: "files by name: late imports read the library, tempfile looks around; which paths exist at all is landlock's and root's"},
		{deed: allow, calls: "mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 truncate chmod fchmod fchmodat utimensat",
			why: "scratch files: nothing but /tmp can be written, its size is bounded; where others can be named, see hostFileRules"},
		{deed: allow, calls: "poll ppoll select pselect6 epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd2", why: "waiting: time.sleep on some versions, select and queues of the standard library"},
	}
}

// checkedRules pass for some arguments. Arguments are registers: no pointer is
// looked behind, so nothing can be swapped after the check.
func checkedRules() []rule {
	return []rule{
		{deed: allow, calls: "clone", when: oneOf(0, threadFlags, threadFlagsMusl), why: "a thread, with exactly pthread_create's flags; anything else is a process"},
		{deed: allow, calls: "kill", when: append(signalsTo(ownPID, 1), signalsTo(0, 1)...), why: "signals to itself: os.kill(os.getpid(), …), to its own group, which holds nothing else; not SIGCONT: one that is stopped after its end must stay so"},
		{deed: allow, calls: "tgkill", when: signalsTo(ownPID, 2), why: "abort() and pthread_kill: its own threads"},
		{deed: allow, calls: "tkill", when: signalsTo(ownPID, 1), why: "musl's raise in the main thread"},
		{deed: allow, calls: "fcntl", when: oneOf(1, unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_GETPIPE_SZ),
			why: "flags; not F_GETLK, which tells of a lock that another program has on a library's file, nor F_SETOWN and F_SETSIG, which signal others, nor pipe sizes, leases, seals"},
		{deed: pretend, calls: "fcntl", when: oneOf(1, unix.F_SETLK, unix.F_SETLKW),
			why: "a lock on /dev/null or a library's file would be seen by all programs, and many of them make each close of it on the host slow; on a scratch file there is nobody to lock it against, and SQLite insists"},
		{deed: allow, calls: "ioctl", when: oneOf(1, unix.TCGETS, tcgets2, unix.TIOCGWINSZ, fioclex, fionclex, fionbio, fionread), why: "isatty, terminal size, inheritance and blocking of descriptors; TIOCSTI and its like are not here"},
		{deed: allow, calls: "prctl", when: oneOf(0, unix.PR_SET_NAME, unix.PR_GET_NAME, prSetVMA, unix.PR_GET_DUMPABLE, unix.PR_GET_NO_NEW_PRIVS, unix.PR_CAPBSET_READ), why: "thread names and glibc's names for its mappings; not PR_SET_DUMPABLE, PR_SET_PDEATHSIG, PR_SET_PTRACER"},
		{deed: allow, calls: "prlimit64", when: oneOf(0, 0, ownPID), why: "its own limits: the runtime lowers them before each run; the kernel lets nobody raise a hard one without a capability"},
		{deed: allow, calls: "personality", when: oneOf(0, queryPersona), why: "a question of some C libraries, changes nothing"},
	}
}

// refusedRules answer EPERM, or what else their callers know to live with.
func refusedRules() []rule {
	return []rule{
		{deed: notTTY, calls: "ioctl", why: "what a file or a pipe answers; libraries probe descriptors with it"},
		{deed: refuse, calls: "flock", why: "a lock on a library's file, which all programs may read, would be seen by the others; there is nobody to lock a scratch file against"},
		{deed: refuse, calls: "fcntl prctl prlimit64 personality tkill", why: "with other arguments than those above; callers take EPERM for an answer"},
		{deed: refuse, calls: "chown fchown lchown fchownat", why: "shutil copies owners where it may, and goes on at EPERM"},
		{deed: notHere, calls: "setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr",
			why: "shutil.copy2 copies attributes where there are any; it takes neither ENOSYS nor EPERM"},
		{deed: refuse, calls: "setpriority sched_setaffinity sched_setscheduler sched_setparam sched_setattr ioprio_set", why: "os.nice and BLAS libraries ask and go on; a program does not choose its share of the machine"},
		{deed: refuse, calls: "setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups capset setpgid setsid", why: "it has no right to any; EPERM is what the kernel says, and a group of its own would be one to hide in"},
		{deed: refuse, calls: "link linkat symlink symlinkat mknod mknodat sync", why: "no library needs them; EPERM is a file system's own answer"},
	}
}

// forbiddenRules end the process. Nothing in the libraries' ordinary work makes
// these calls, so one that is made tells of an escape being tried or of a
// program that cannot work here; either is better told by name than by an errno
// somewhere.
func forbiddenRules() []rule {
	return []rule{
		{deed: forbid, calls: "socket socketpair connect bind listen accept accept4 sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg shutdown getsockname getpeername getsockopt setsockopt", why: "network, and local sockets to other processes"},
		{deed: forbid, calls: "execve execveat uselib", why: "other programs"},
		{deed: forbid, calls: "clone fork vfork", why: "other processes: what is left of clone are no threads (clone3 answers ENOSYS, so that C libraries fall back to clone)"},
		{deed: forbid, calls: "kill tgkill rt_sigqueueinfo rt_tgsigqueueinfo", why: "signals to others"},
		{deed: forbid, calls: "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_open pidfd_getfd pidfd_send_signal", why: "other processes' memory, descriptors and life"},
		{deed: forbid, calls: "mount umount2 pivot_root chroot open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr statmount listmount", why: "the file system's shape"},
		{deed: forbid, calls: "unshare setns", why: "namespaces, by which a process gains rights inside them"},
		{deed: forbid, calls: "bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register seccomp", why: "large kernel interfaces with a history; io_uring makes calls that no filter sees"},
		{deed: forbid, calls: "add_key request_key keyctl", why: "keyrings are shared by all processes of a user"},
		{deed: forbid, calls: "memfd_create memfd_secret", why: "files that no path rule sees, made to be executed"},
		{deed: forbid, calls: "name_to_handle_at open_by_handle_at fanotify_init fanotify_mark lookup_dcookie quotactl quotactl_fd", why: "files other than by path"},
		{deed: forbid, calls: "init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff acct syslog sethostname setdomainname iopl ioperm modify_ldt settimeofday clock_settime clock_adjtime adjtimex vhangup", why: "the machine"},
	}
}
