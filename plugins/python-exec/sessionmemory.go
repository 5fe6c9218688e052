package main

import (
	"os"
	"strconv"
)

// memoryBytes is what a session's processes hold by themselves. Called locked.
func (s *session) memoryBytes() uint64 {
	var sum uint64
	for _, img := range []*image{s.at, s.running} {
		if img != nil {
			sum += privateBytes(img.pid)
		}
	}
	return sum
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
