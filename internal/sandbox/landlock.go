package sandbox

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// Domain is what a Landlock domain leaves to those in it. TCP (from ABI 4),
// signals to processes outside of it and their abstract sockets (from ABI 6)
// are always taken away.
type Domain struct {
	ReadOnly []string // files and directories with all below: read, list, execute; missing ones are passed over
	Writable []string // also write, make and remove, but not execute
	Devices  []string // read and write, nothing else: /dev/null and the like

	// LeaveFiles keeps every path as it is, and with that the right to mount:
	// those in a domain that restricts paths can mount nothing.
	LeaveFiles bool
}

// What paths may be used for. Device control and sockets by path are in none.
const (
	landlockRead  = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSReadDir
	landlockWrite = ll.AccessFSReadFile | ll.AccessFSReadDir | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSRefer |
		ll.AccessFSMakeReg | ll.AccessFSMakeDir | ll.AccessFSMakeSym | ll.AccessFSMakeFifo | ll.AccessFSRemoveFile | ll.AccessFSRemoveDir
	landlockDevice = ll.AccessFSReadFile | ll.AccessFSWriteFile
	landlockFile   = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate // what a rule on a file may name
)

// grants pairs the domain's paths with what they may be used for.
func (d Domain) grants(handled uint64) []DomainRule {
	var all []DomainRule
	add := func(access uint64, paths []string) {
		for _, p := range paths {
			all = append(all, DomainRule{Path: p, Dir: access & handled, File: access & handled & landlockFile})
		}
	}
	if handled == 0 {
		return nil
	}
	add(landlockRead, d.ReadOnly)
	add(landlockWrite, d.Writable)
	add(landlockDevice, d.Devices)
	return all
}

// DomainRule is what a path may be used for, as LANDLOCK_ACCESS_FS bits: if it
// is a directory, and if it is anything else.
type DomainRule struct {
	Path      string
	Dir, File uint64
}

// domainConfig is the most that an ABI can take away, less what d leaves.
func domainConfig(d Domain, abi int) landlock.Config {
	known := []landlock.Config{
		landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5, landlock.V6,
		landlock.V7, landlock.V8, landlock.V9, landlock.V10, landlock.V11,
	}
	c := known[min(abi, len(known))-1]
	if d.LeaveFiles {
		c.HandledAccessFS = 0
	}
	return c
}

// ChildDomain is a domain that a process takes for itself, inside the one that it
// may be in already. The steps, after its mounts and no_new_privs and before its
// ChildFilter:
//
//  1. fd = landlock_create_ruleset(Attr, len(Attr), 0), call number 444.
//  2. For each of Rules: open(Path, O_PATH|O_CLOEXEC), pass over what is not
//     there; landlock_add_rule(fd, 1, struct{u64 access; s32 path} packed, 0),
//     number 445, with Dir as access for a directory and File for anything else.
//  3. landlock_restrict_self(fd, 0), number 446; close fd.
//
// A failure of any step must end the process.
type ChildDomain struct {
	Attr  []byte // struct landlock_ruleset_attr, native order
	Rules []DomainRule
	Wall  Wall // what it makes of the wall "landlock"
}

// NewChildDomain lays a domain out for an ABI that the kernel has; see
// Offer.Landlock. ok is false where it has none, or one that could take
// nothing away of what d wants gone.
func NewChildDomain(d Domain, abi int) (c ChildDomain, ok bool) {
	if abi < 1 {
		return c, false
	}
	config := domainConfig(d, abi)
	fields := []uint64{uint64(config.HandledAccessFS), uint64(config.HandledAccessNet), uint64(config.Scoped)}
	for len(fields) > 0 && fields[len(fields)-1] == 0 {
		fields = fields[:len(fields)-1] // older kernels know a shorter struct
	}
	for _, f := range fields {
		c.Attr = binary.NativeEndian.AppendUint64(c.Attr, f)
	}
	c.Rules = d.grants(uint64(config.HandledAccessFS))
	c.Wall = landlockWall(config, abi)
	return c, len(fields) > 0
}

func landlockWall(c landlock.Config, abi int) Wall {
	w := Wall{Name: nameLandlock, InForce: true, Files: c.HandledAccessFS != 0}
	var gone []string
	for what, is := range map[string]bool{"paths": w.Files, "TCP": c.HandledAccessNet != 0, "signals and abstract sockets": c.Scoped != 0} {
		if is {
			gone = append(gone, what)
		}
	}
	w.Mechanism = fmt.Sprintf("Landlock ABI %d: %s", abi, strings.Join(sorted(gone), ", "))
	if c.Scoped == 0 {
		w.Why = fmt.Sprintf("ABI %d keeps no signals in (6 does)", abi)
	}
	return w
}
