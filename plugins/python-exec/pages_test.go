package main

import (
	"bytes"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
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

// TestInterpreterOutOfDescriptors: one that can open no more makes no child, and
// stays, with all that it has forked.
func TestInterpreterOutOfDescriptors(t *testing.T) {
	p := start(t, nil)
	n := openSession(t, p, "a")
	n.want(t, "x = 7\nx", "7")
	eventually(t, "the pool is full", func() bool {
		p.pool.top()
		p.pool.mu.Lock()
		defer p.pool.mu.Unlock()
		return len(p.pool.idle) == p.cfg.WaitingChildren && p.pool.making == 0 && len(p.pool.spent) == 0
	})
	p.pool.mu.Lock()
	z := p.pool.current
	p.pool.mu.Unlock()
	open := descriptors(t, z)
	var whole unix.Rlimit
	if err := unix.Prlimit(z.proc.pid, unix.RLIMIT_NOFILE, nil, &whole); err != nil {
		t.Fatal(err)
	}
	refused, made := 0, 0
	for free := range uint64(10) {
		few := unix.Rlimit{Cur: limitWith(open, free), Max: whole.Max}
		if err := unix.Prlimit(z.proc.pid, unix.RLIMIT_NOFILE, &few, nil); err != nil {
			t.Fatal(err)
		}
		c, err := z.spawn(0, func() {}, false)
		if err != nil {
			refused++
			continue
		}
		made++
		c.discard()
		<-c.ended
	}
	if err := unix.Prlimit(z.proc.pid, unix.RLIMIT_NOFILE, &whole, nil); err != nil {
		t.Fatal(err)
	}
	if refused < 3 || made < 1 {
		t.Errorf("%d refused, %d made", refused, made)
	}
	if after := descriptors(t, z); len(after) > len(open) {
		t.Errorf("%d descriptors are open after that, %d before", len(after), len(open))
	}
	n.want(t, "x", "7")
}

// descriptors are the numbers of those that the interpreter has open.
func descriptors(t *testing.T, z *zygote) map[uint64]bool {
	t.Helper()
	entries, err := os.ReadDir("/proc/" + strconv.Itoa(z.proc.pid) + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	open := map[uint64]bool{}
	for _, e := range entries {
		n, err := strconv.ParseUint(e.Name(), 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		open[n] = true
	}
	return open
}

// limitWith is the limit below which so many numbers are free.
func limitWith(open map[uint64]bool, free uint64) uint64 {
	for limit := uint64(0); ; limit++ {
		if open[limit] {
			continue
		}
		if free == 0 {
			return limit
		}
		free--
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
