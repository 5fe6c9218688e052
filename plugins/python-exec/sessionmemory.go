package main

import (
	"bytes"
	"os"
	"strconv"
)

// memoryBytes is what a session holds by itself: its share of what its house is
// charged, or, without a control group, what its processes do not share with
// others, or, where the kernel does not show that either, what its first process
// took at its start and what it has grown by since. Called locked.
func (s *session) memoryBytes() uint64 {
	if s.house == nil {
		return 0
	}
	if n, ok := s.house.memory(); ok {
		return n
	}
	var own, grown uint64
	for _, img := range []*image{s.at, s.running} {
		if img != nil {
			own += privateBytes(img.pid)
			grown = max(grown, img.grown())
		}
	}
	return max(own, s.house.took+grown)
}

// memory is what one tenant of the house holds, if a control group tells.
func (h *house) memory() (uint64, bool) {
	if h.keeper.fold == nil {
		return 0, false
	}
	now, err := h.keeper.fold.group.Memory()
	if err != nil {
		return 0, false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return (now - min(now, h.charged)) / uint64(max(h.tenants, 1)), true //nolint:gosec // positive
}

// grown is by how much more memory the image has than the keeper, which has
// what the interpreter had.
func (i *image) grown() uint64 {
	now, before := anonymous(i.pid), anonymous(i.house.pid)
	return now - min(now, before)
}

func anonymous(pid int) uint64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	kib, err := field(text, "RssAnon:")
	if err != nil {
		return 0
	}
	return uint64(kib) << 10 //nolint:gosec // field gives no negative number
}

// faulted is how much memory a process has been given page by page since it was
// made, or 0 where the kernel does not say.
func faulted(pid int) uint64 {
	const minorFaults = 7 // of the words behind the name, from 0
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	words := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(words) <= minorFaults {
		return 0
	}
	n, err := strconv.ParseUint(string(words[minorFaults]), 10, 32)
	if err != nil {
		return 0
	}
	return n * uint64(os.Getpagesize()) //nolint:gosec // positive
}

// privateBytes is the memory of a process that no other shares, or 0 where the
// kernel does not say.
func privateBytes(pid int) uint64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil {
		return 0
	}
	var sum uint64
	for _, name := range []string{"Private_Clean:", "Private_Dirty:"} {
		if kib, err := field(text, name); err == nil {
			sum += uint64(kib) << 10 //nolint:gosec // field gives no negative number
		}
	}
	return sum
}
