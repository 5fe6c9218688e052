package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Spec is a command and the rights it is to lose. The zero values of its wall
// fields ask for nothing beyond clean-start, which is always raised.
type Spec struct {
	Path string   // absolute path of the program, as seen from inside
	Exe  *os.File // if set, this file is executed and Path only names it; an ELF file, not with ReadOnly
	Args []string // argv, with argv[0]; empty: Path alone
	Env  []string // the whole environment
	Dir  string   // working directory, as seen from inside; empty: /

	Stdin, Stdout, Stderr *os.File   // nil: /dev/null
	Files                 []*os.File // descriptors 3, 4, …

	Namespaces []Namespace // wanted; those that cannot be had are told by the walls
	FreshProc  bool        // a /proc of the new PID namespace; without it a pivoted root has no /proc

	// ReadOnly, if not nil, asks for a root of its own: a read-only tmpfs that
	// holds these absolute paths at the same places and nothing else but
	// /dev/{null,zero,random,urandom} and an empty writable /tmp. A symbolic
	// link on the way to a path is made again and what it points to is bound
	// too. Directories above a path are new and passable for every user.
	// Needs the Mount namespace.
	ReadOnly []string
	TmpBytes uint64 // size of that /tmp; 0: 16 MiB

	Rlimits []Rlimit // beside RLIMIT_CORE, which is always 0

	// DropCaps takes every capability away, from the bounding set too, but
	// those of KeepCaps. In a user namespace that happens in any case.
	DropCaps bool
	KeepCaps []Cap

	// Seccomp asks for a filter that refuses what no trusted program of ours
	// needs: other processes' memory, sockets but local ones, large kernel
	// interfaces. What runs submissions gets a strict one: see ChildFilter.
	Seccomp bool

	// Landlock asks for a domain around the command and all that it starts.
	// Paths are looked up inside, in a root of its own if there is one.
	Landlock *Domain

	// Group asks for a control group of that name for the command and what it
	// starts, under this process's own; it is removed when the command ends.
	Group       string
	GroupLimits GroupLimits
}

// Namespace is a kind of kernel namespace.
type Namespace string

// The namespaces that a Spec may ask for. A user namespace is a means, not a
// wish: it is used when the others cannot be had without it.
const (
	PID    Namespace = "pid"
	Net    Namespace = "net"
	IPC    Namespace = "ipc"
	Mount  Namespace = "mount"
	UTS    Namespace = "uts"
	Cgroup Namespace = "cgroup"
)

// AllNamespaces lists every Namespace.
func AllNamespaces() []Namespace { return []Namespace{PID, Net, IPC, Mount, UTS, Cgroup} }

func (n Namespace) flag() uintptr {
	switch n {
	case PID:
		return unix.CLONE_NEWPID
	case Net:
		return unix.CLONE_NEWNET
	case IPC:
		return unix.CLONE_NEWIPC
	case Mount:
		return unix.CLONE_NEWNS
	case UTS:
		return unix.CLONE_NEWUTS
	case Cgroup:
		return unix.CLONE_NEWCGROUP
	}
	return 0
}

// Rlimit is one resource limit; Resource is one of unix.RLIMIT_*. A hard limit
// above the present one is lowered to it.
type Rlimit struct {
	Resource   int
	Soft, Hard uint64
}

// Cap is a capability's number, unix.CAP_*.
type Cap uint

// defaultTmpBytes is the size of a private /tmp when none is asked for.
const defaultTmpBytes = 16 << 20

// check says what is wrong with a Spec in itself.
func (s Spec) check() error {
	if !filepath.IsAbs(s.Path) {
		return fmt.Errorf("start %q: the path of a confined command must be absolute", s.Path)
	}
	if s.Exe != nil && s.ReadOnly != nil {
		return fmt.Errorf("start %q: an open executable and a root of its own exclude each other", s.Path)
	}
	for _, p := range s.ReadOnly {
		if !filepath.IsAbs(p) || filepath.Clean(p) == "/" {
			return fmt.Errorf("bind %q: a read-only path must be absolute and not the root", p)
		}
	}
	if strings.ContainsAny(s.Group, "/.") {
		return fmt.Errorf("start %q: a control group's name is no path: %q", s.Path, s.Group)
	}
	for _, n := range s.Namespaces {
		if n.flag() == 0 {
			return fmt.Errorf("start %q: unknown namespace %q", s.Path, string(n))
		}
	}
	for _, text := range append(append([]string{s.Path, s.Dir}, s.Args...), s.Env...) {
		if strings.ContainsRune(text, 0) {
			return fmt.Errorf("start %q: an argument or a variable holds a NUL byte", s.Path)
		}
	}
	return nil
}
