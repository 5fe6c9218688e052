package main

import (
	"bytes"
	"os"
	"strconv"
	"testing"
)

// TestForkWritesFewPages: each page that the interpreter writes between two forks is
// copied, and is small from then on. It wrote 150 when its messages were JSON, and 65
// since; beside them there are those that it copies once.
func TestForkWritesFewPages(t *testing.T) {
	const few, times = 110, 40
	p := start(t, nil)
	run(t, p, "x = 1", granted())
	settled(t, p)
	forks, faults := forksAndFaults(t, p)
	for range times {
		run(t, p, "x = 1", granted())
	}
	settled(t, p)
	moreForks, moreFaults := forksAndFaults(t, p)
	if forks = moreForks - forks; forks < times {
		t.Fatalf("%d forks for %d programs", forks, times)
	}
	each := (moreFaults - faults) / forks
	if each > few {
		t.Errorf("the interpreter wrote to %d pages for each fork, at most %d", each, few)
	}
}

// forksAndFaults is how often the interpreter has forked, and how many page faults it
// has had.
func forksAndFaults(t *testing.T, p *plugin) (forks, faults uint64) {
	t.Helper()
	p.pool.mu.Lock()
	z := p.pool.current
	p.pool.mu.Unlock()
	z.mu.Lock()
	forks = z.next
	z.mu.Unlock()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(z.proc.pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const minor = 7
	faults, err = strconv.ParseUint(string(fields[minor]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return forks, faults
}
