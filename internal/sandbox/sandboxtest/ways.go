// Package sandboxtest puts a process into the conditions of other hosts, for
// real, so that what is built on the walls can be tested for each: as root, as a
// user with user namespaces, as a user in a container without namespaces, and
// on a kernel that has namespaces but neither Landlock nor user notification.
//
// Begin with [Ways]; [Enter] changes the calling process, which then executes
// what is to be tested; the command in way/ does both:
//
//	go build -o /tmp/way ./internal/sandbox/sandboxtest/way
//	/tmp/way container ./gateway serve --config …
//
// The package is for tests alone and nothing that is shipped imports it.
package sandboxtest

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// Way is a kind of host.
type Way string

// The ways in which everything about walls must work.
const (
	Root      Way = "root"      // as it is, by root
	User      Way = "user"      // uid 1000, user namespaces as the kernel gives them
	Container Way = "container" // uid 1000, and a filter that denies namespaces and mounts, as container runtimes do
	GVisor    Way = "gvisor"    // namespaces, but Landlock and user notification answer ENOSYS
)

// Bare is a host that offers neither Landlock nor namespaces, by whoever it is
// entered: a program cannot be kept from files there, so a plugin that runs
// programs must refuse to start. It is not one of [Ways].
const Bare Way = "bare"

// Ways lists every Way in which everything must work.
func Ways() []Way { return []Way{Root, User, Container, GVisor} }

// plainUID is the user of the ways without root.
const plainUID = 1000

// namespaceFlags are those of clone, unshare and setns.
const namespaceFlags = unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWCGROUP

// Enter puts the calling thread, locked to its goroutine from now on, into the
// way's conditions; those of credentials change the whole process. It is meant
// to be followed by an exec and cannot be undone. All ways but Root of a caller
// that is not root leave the uid as it is.
func Enter(w Way) error {
	runtime.LockOSThread()
	var filter *seccomp.Policy
	switch w {
	case Root:
	case User:
	case Container:
		filter = withoutNamespaces()
	case GVisor:
		filter = withoutLandlock()
	case Bare:
		filter = withoutNamespaces()
		filter.Syscalls = append(filter.Syscalls, withoutLandlock().Syscalls...)
	default:
		return fmt.Errorf("enter the way %q: there are %v and %s", w, Ways(), Bare)
	}
	if w == User || w == Container {
		if err := becomePlain(); err != nil {
			return err
		}
	}
	if filter == nil {
		return nil
	}
	err := seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Policy: *filter})
	if err != nil {
		return fmt.Errorf("enter the way %q: %w", w, err)
	}
	return nil
}

// becomePlain gives root up for good.
func becomePlain() error {
	if os.Geteuid() != 0 {
		return nil
	}
	if err := syscall.Setgroups(nil); err != nil {
		return fmt.Errorf("become a plain user: %w", err)
	}
	if err := syscall.Setresgid(plainUID, plainUID, plainUID); err != nil {
		return fmt.Errorf("become a plain user: %w", err)
	}
	if err := syscall.Setresuid(plainUID, plainUID, plainUID); err != nil {
		return fmt.Errorf("become a plain user: %w", err)
	}
	return nil
}

// withoutNamespaces is what Docker's default profile does to a process without
// CAP_SYS_ADMIN: clone3 hides its flags in memory and so answers ENOSYS.
func withoutNamespaces() *seccomp.Policy {
	return &seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: []seccomp.SyscallGroup{
		{Action: seccomp.ActionErrno, Names: []string{"unshare", "setns", "mount", "umount2", "pivot_root", "move_mount", "open_tree", "fsopen", "fsmount", "mount_setattr"}},
		{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{"clone3"}},
		{Action: seccomp.ActionErrno, NamesWithCondtions: []seccomp.NameWithConditions{
			{Name: "clone", Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.BitsSet, Value: namespaceFlags}}},
		}},
	}}
}

// withoutLandlock is gVisor in the two respects that matter here: it knows
// seccomp(2), but not its listener.
func withoutLandlock() *seccomp.Policy {
	const enosys = seccomp.ActionErrno | seccomp.Action(unix.ENOSYS)
	return &seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: []seccomp.SyscallGroup{
		{Action: enosys, Names: []string{"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"}},
		{Action: enosys, NamesWithCondtions: []seccomp.NameWithConditions{
			{Name: "seccomp", Conditions: seccomp.ArgumentConditions{{Argument: 1, Operation: seccomp.BitsSet, Value: unix.SECCOMP_FILTER_FLAG_NEW_LISTENER}}},
		}},
	}}
}
