package sandbox

import (
	"context"
	"os"
	"runtime"
	"slices"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// NewSessionFilter is NewChildFilter for a process that stays: it takes orders
// with descriptors on its control socket, and copies itself when [Supervise]
// lets it. Its signals to process number 0 are refused, since copies share a
// process group. Without notify it can make no copy: trying ends it.
func NewSessionFilter(o FilterOptions) (ChildFilter, error) {
	return newChildFilter(runtime.GOARCH, o.Notify, o.ControlFD, slices.Concat(sessionRules(o.ControlFD), firstRules(o.Notify), o.rules())...)
}

// firstRules take away, where there are copies, what a process may do to the one
// that installed the filter: that is what cells go back to, or a fork's.
func firstRules(copies bool) []rule {
	if !copies {
		return nil
	}
	return []rule{
		{deed: forbid, calls: "kill", when: oneOf(0, ownPID), why: "signals to the first of the copies"},
		{deed: forbid, calls: "tgkill", when: oneOf(0, ownPID), why: "the same"},
		{deed: refuse, calls: "tkill", when: oneOf(0, ownPID), why: "the same"},
		{deed: refuse, calls: "prlimit64", when: oneOf(0, ownPID), why: "limits of the first of the copies"},
	}
}

func sessionRules(controlFD int) []rule {
	return []rule{
		{deed: allow, calls: "recvmsg", when: oneOf(0, uint64(controlFD)), why: "an order brings the descriptors of its cell"}, //nolint:gosec // a descriptor is not negative
		{deed: allow, calls: "prctl", when: []seccomp.ArgumentConditions{all(is(0, unix.PR_SET_PDEATHSIG), is(1, uint64(unix.SIGKILL)))},
			why: "a copy, as the process that it was made of, ends with the keeper"},
		{deed: refuse, calls: "kill", when: oneOf(0, 0), why: "its group holds the copy that it goes back to"},
	}
}

// Call is a forbidden system call that waits for an answer.
type Call struct {
	PID  int // the thread's number in the caller's PID namespace; 0: not visible there
	Name string
	args [6]uint64
}

// Flags of clone that copy a process: the copy is a child of its parent's
// parent, and the C library's note of its number is kept right.
const (
	copyFlags    = unix.CLONE_PARENT | uint64(unix.SIGCHLD)
	copyMayFlags = unix.CLONE_CHILD_SETTID | unix.CLONE_CHILD_CLEARTID
)

// Copies says whether the call makes a copy of the process as a whole, sharing
// nothing with it, beside it under the same parent. The arguments are registers:
// they are the ones that the call is carried out with.
func (c Call) Copies() bool {
	const stack = 1 // clone's second argument on both architectures
	return c.Name == "clone" && c.args[0]&^copyMayFlags == copyFlags && c.args[stack] == 0
}

// StartsThread says whether the call starts a thread of the process, and nothing
// else.
func (c Call) StartsThread() bool {
	return c.Name == "clone" && (c.args[0] == threadFlags || c.args[0] == threadFlagsMusl)
}

// Supervise is [Watch] with a choice: a call that judge passes is carried out as
// it stands, if it is one that [Call.Copies] or [Call.StartsThread]. Before judge
// returns false for any other it must have ended the process.
func Supervise(ctx context.Context, listener *os.File, judge func(Call) (pass bool)) error {
	return watch(ctx, listener, func(n notification) response {
		call := Call{PID: int(n.pid), Name: SyscallName(int(n.nr)), args: n.args}
		if judge(call) && (call.Copies() || call.StartsThread()) {
			return response{flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		}
		return refusal(unix.EPERM)
	})
}
