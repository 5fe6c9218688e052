package sandbox

import (
	"encoding/binary"
	"runtime"
	"slices"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// ChildFilter is what a process that is to run a submission installs on itself,
// while it has one thread and before it reads anything of the submission. The
// steps, in this order, after everything else that the process gives up
// (descriptors, uid, capabilities, no_new_privs, namespaces, landlock):
//
//  1. Write getpid(), as the process sees it, over the four bytes (native
//     order) at each of PIDSlots.
//  2. seccomp(SECCOMP_SET_MODE_FILTER = 1, Flags, &sock_fprog{len(Program)/8, Program}).
//     Without Flags it returns 0 and the wall stands. With them it returns the
//     listener, a descriptor, and two steps follow.
//  3. sendmsg(ControlFD, one byte or more and the listener as SCM_RIGHTS), then
//     close the listener.
//  4. seccomp(1, 0, Seal): from here on sendmsg and seccomp answer EPERM.
//
// Whoever receives the listener gives it to [Watch]. After step 2 descriptors
// can still be read, written, polled and closed; sockets know read and write
// only, so objects that ask getsockname or the like are made before it. A
// failure of any step must end the process.
type ChildFilter struct {
	Program   []byte   // struct sock_filter[], native order
	PIDSlots  []uint32 // offsets in Program
	Flags     uint32   // for seccomp(2); 0: there is no listener
	Seal      []byte   // struct sock_filter[]; nil without a listener
	ControlFD int      // the socket that step 3 may use
}

// FilterOptions say where a filter is to stand.
type FilterOptions struct {
	ControlFD int // the number of the process's control socket

	// Notify makes a forbidden call wait for the one that holds the listener; else
	// the kernel ends the process by SIGSYS.
	Notify bool

	// AskThreads, which needs Notify, makes the start of a thread wait too: see
	// [Call.StartsThread]. It is for where the kernel counts no tasks for the process.
	AskThreads bool

	// HostFiles says that files of the host can be named which are not on a read-only
	// mount: what Landlock does not hold there (modes and times, of /dev/null too, and
	// before its ABI 3 truncation) is refused.
	HostFiles bool
}

// rules are those that come before every child's.
func (o FilterOptions) rules() []rule {
	return append(threadRules(o.Notify && o.AskThreads), hostFileRules(o.HostFiles)...)
}

// NewChildFilter assembles the rules for this machine.
func NewChildFilter(o FilterOptions) (ChildFilter, error) {
	return newChildFilter(runtime.GOARCH, o.Notify, o.ControlFD, o.rules()...)
}

func hostFileRules(named bool) []rule {
	if !named {
		return nil
	}
	rules := []rule{{deed: refuse, calls: "chmod fchmod fchmodat utimensat truncate", why: "would outlive the process, and be seen by all programs"}}
	for call, flags := range map[string]uint32{"open": 1, "openat": 2} {
		empties := all(
			seccomp.Condition{Argument: flags, Operation: seccomp.BitsSet, Value: unix.O_TRUNC},
			seccomp.Condition{Argument: flags, Operation: seccomp.BitsNotSet, Value: unix.O_ACCMODE},
		)
		rules = append(rules, rule{deed: refuse, calls: call, when: []seccomp.ArgumentConditions{empties}, why: "empties a file that it opens for reading"})
	}
	return rules
}

func threadRules(ask bool) []rule {
	if !ask {
		return nil
	}
	return []rule{{deed: forbid, calls: "clone", when: oneOf(0, threadFlags, threadFlagsMusl), why: "a thread, to be counted by the listener's holder before it starts"}}
}

// newChildFilter puts more rules before those of every child.
func newChildFilter(goarch string, notify bool, controlFD int, more ...rule) (ChildFilter, error) {
	info, err := archOf(goarch)
	if err != nil {
		return ChildFilter{}, err
	}
	f := ChildFilter{ControlFD: controlFD}
	rules, forbidden := slices.Concat(more, childRules()), seccomp.ActionKillProcess
	if notify {
		rules, forbidden = append(handOverRules(controlFD), rules...), seccomp.ActionUserNotify
		f.Flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
		seal, err := assemble(info, sealRules(), seccomp.ActionKillProcess, seccomp.ActionAllow)
		if err != nil {
			return f, err
		}
		f.Seal = filterBytes(seal)
	}
	code, err := assemble(info, rules, forbidden, errno(unix.ENOSYS))
	if err != nil {
		return f, err
	}
	f.Program, f.PIDSlots = filterBytes(code), slots(code)
	return f, nil
}

// handOverRules let the listener out and the seal in.
func handOverRules(controlFD int) []rule {
	return []rule{
		{deed: allow, calls: "sendmsg", when: oneOf(0, uint64(controlFD)), why: "hands the listener over"}, //nolint:gosec // a descriptor is not negative
		{deed: allow, calls: "seccomp", when: []seccomp.ArgumentConditions{all(is(0, unix.SECCOMP_SET_MODE_FILTER), is(1, 0))}, why: "installs the seal"},
	}
}

func sealRules() []rule {
	return []rule{{deed: refuse, calls: "sendmsg seccomp", why: "were for the handing over alone; a filter without the listener cannot name"}}
}

// slots finds where the process's own number belongs.
func slots(code []bpf.RawInstruction) []uint32 {
	var at []uint32
	for i, ins := range code {
		if ins.K == ownPID {
			at = append(at, uint32(8*i+4)) //nolint:gosec // a program has at most 4096 instructions
		}
	}
	return at
}

// For returns the program for the process with that number.
func (f ChildFilter) For(pid int) []byte {
	program := append([]byte(nil), f.Program...)
	for _, at := range f.PIDSlots {
		binary.NativeEndian.PutUint32(program[at:], uint32(pid)) //nolint:gosec // a process's number
	}
	return program
}
