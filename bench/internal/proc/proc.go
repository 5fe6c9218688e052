// Package proc looks at a process and all its descendants: processor time,
// memory, descriptors.
//
// Begin with Tree. It reads /proc alone, holds nothing open, and must never
// send a signal.
package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of processor time in /proc/PID/stat, the same on every
// Linux.
const tick = time.Second / 100

// stat is what is used of /proc/PID/stat.
type stat struct {
	pid, parent int
	name        string
	cpu         time.Duration // of the process and of all children that it waited for
}

// Tree is a process and its descendants at one moment, the root first.
type Tree []stat

// Look reads the tree below root.
func Look(root int) (Tree, error) {
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	children := map[int][]stat{}
	var tree Tree
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended meanwhile
		}
		s, err := parseStat(text)
		if err != nil {
			return nil, err
		}
		if s.pid == root {
			tree = Tree{s}
		}
		children[s.parent] = append(children[s.parent], s)
	}
	if tree == nil {
		return nil, fmt.Errorf("look at process %d: it is gone", root)
	}
	for i := 0; i < len(tree); i++ {
		tree = append(tree, children[tree[i].pid]...)
	}
	return tree, nil
}

var errStat = errors.New("unknown form of /proc/PID/stat")

// parseStat reads "pid (name) state ppid …"; the name may hold anything.
func parseStat(text []byte) (stat, error) {
	open, shut := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 1 || shut < open {
		return stat{}, errStat
	}
	fields := strings.Fields(string(text[shut+1:]))
	if len(fields) < 15 {
		return stat{}, errStat
	}
	s := stat{name: string(text[open+1 : shut])}
	var ticks int64
	for _, f := range []struct {
		text string
		into func(int64)
	}{
		{strings.TrimSpace(string(text[:open])), func(n int64) { s.pid = int(n) }},
		{fields[1], func(n int64) { s.parent = int(n) }},
		{fields[11], func(n int64) { ticks += n }}, // utime
		{fields[12], func(n int64) { ticks += n }}, // stime
		{fields[13], func(n int64) { ticks += n }}, // cutime
		{fields[14], func(n int64) { ticks += n }}, // cstime
	} {
		n, err := strconv.ParseInt(f.text, 10, 64)
		if err != nil {
			return stat{}, fmt.Errorf("%w: %w", errStat, err)
		}
		f.into(n)
	}
	s.cpu = time.Duration(ticks) * tick
	return s, nil
}

// CPU is the processor time of the tree so far, with that of children that have
// ended and were waited for. It counts in steps of 10 ms per process.
func (t Tree) CPU() time.Duration {
	var sum time.Duration
	for _, s := range t {
		sum += s.cpu
	}
	return sum
}

// Memory is what a tree holds, in bytes.
type Memory struct {
	PSS        int64           `json:"pss"` // its share of pages that several use
	Private    int64           `json:"private"`
	Processes  int             `json:"processes"`
	Files      int             `json:"files"`
	Unreadable int             `json:"unreadable,omitempty"` // processes that may not be looked at; not counted
	Each       []ProcessMemory `json:"each,omitempty"`
}

// ProcessMemory is one process of a tree.
type ProcessMemory struct {
	Name    string `json:"name"`
	Depth   int    `json:"depth"` // 0 is the root
	PSS     int64  `json:"pss"`
	Private int64  `json:"private"`
}

// Memory adds up the tree. A process that shares its parent's address space has
// nothing of its own: each counts it as all theirs.
func (t Tree) Memory() Memory {
	var m Memory
	depth := map[int]int{}
	for i, s := range t {
		if i > 0 {
			depth[s.pid] = depth[s.parent] + 1
		}
		m.Processes++
		if i > 0 && sharesMemory(s.pid, s.parent) {
			m.Files += files(s.pid)
			continue
		}
		one, err := rollup(s.pid)
		if err != nil {
			m.Unreadable++
			continue
		}
		one.Name, one.Depth = s.name, depth[s.pid]
		m.PSS += one.PSS
		m.Private += one.Private
		m.Files += files(s.pid)
		m.Each = append(m.Each, one)
	}
	return m
}

// kcmpVM is KCMP_VM of kcmp(2).
const kcmpVM = 1

// sharesMemory says whether two processes are known to have one address space.
func sharesMemory(pid, other int) bool {
	order, _, err := syscall.Syscall6(unix.SYS_KCMP, uintptr(pid), uintptr(other), kcmpVM, 0, 0, 0) //nolint:gosec // not negative
	return err == 0 && order == 0
}

func rollup(pid int) (ProcessMemory, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil {
		return ProcessMemory{}, fmt.Errorf("read memory: %w", err)
	}
	return parseRollup(text), nil
}

func parseRollup(text []byte) ProcessMemory {
	var m ProcessMemory
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		n, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil {
			continue
		}
		switch f[0] {
		case "Pss:":
			m.PSS = n << 10
		case "Private_Clean:", "Private_Dirty:":
			m.Private += n << 10
		}
	}
	return m
}

func files(pid int) int {
	list, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

// mostCgroups bounds a count of cgroups.
const mostCgroups = 50_000

// Cgroups counts the cgroups of this machine, in all hierarchies.
func Cgroups() int {
	count := 0
	_ = filepath.WalkDir("/sys/fs/cgroup", func(_ string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // one that has gone meanwhile
		case d.IsDir():
			count++
		}
		if count >= mostCgroups {
			return filepath.SkipAll
		}
		return nil
	})
	return count
}
