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
	least, refused := leastDescriptors(t, z)
	if refused < 3 {
		t.Errorf("%d refused", refused)
	}
	// What a refused child left open would take up room.
	if again, _ := leastDescriptors(t, z); again > least {
		t.Errorf("a child was made with %d descriptors, and after the refusals with %d", least, again)
	}
	n.want(t, "x", "7")
}

// leastDescriptors is the least limit of descriptors with which the interpreter makes a
// child, and how many it refused with lower ones. Its descriptors are not to be seen by
// another uid than root's.
func leastDescriptors(t *testing.T, z *zygote) (least uint64, refused int) {
	t.Helper()
	var whole unix.Rlimit
	if err := unix.Prlimit(z.proc.pid, unix.RLIMIT_NOFILE, nil, &whole); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Prlimit(z.proc.pid, unix.RLIMIT_NOFILE, &whole, nil); err != nil {
			t.Error(err)
		}
	}()
	for least = 4; least < whole.Max; least++ {
		if err := unix.Prlimit(z.proc.pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: least, Max: whole.Max}, nil); err != nil {
			t.Fatal(err)
		}
		c, err := z.spawn(0, func() {}, false)
		if err != nil {
			refused++
			continue
		}
		c.discard()
		<-c.ended
		return least, refused
	}
	t.Fatal("no child is made with all descriptors")
	return 0, 0
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
