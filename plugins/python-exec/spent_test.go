package main

import (
	"runtime"
	"testing"
)

// TestSpentStayUntilReplaced: whoever counts processes after an answer finds no
// fewer than before, and a child that is done with runs nothing more.
func TestSpentStayUntilReplaced(t *testing.T) {
	p := start(t, map[string]any{"waiting_children": 3})
	for range 5 {
		settled(t, p)
		o := run(t, p, "import threading, time\ndef late():\n    time.sleep(1)\n    print('late')\nthreading.Thread(target=late, daemon=True).start()\nprint('said')", granted())
		p.pool.mu.Lock() // not by a look at /proc, which takes its time
		idle, spent := len(p.pool.idle), len(p.pool.spent)
		p.pool.mu.Unlock()
		if idle+spent < p.cfg.WaitingChildren {
			t.Errorf("after the answer %d children wait and %d are held", idle, spent)
		}
		if o.stdout != "said\n" {
			t.Errorf("%v %q", o.status(), o.stdout)
		}
	}
	settled(t, p)
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	if len(p.pool.spent) > 0 {
		t.Errorf("%d children are still held", len(p.pool.spent))
	}
}

// A process that is started shares the memory of the one that starts it for a moment,
// and the kernel counts that as the most that it ever had.
func TestInterpreterCountsItsOwnMemory(t *testing.T) {
	ballast := make([]byte, 400<<20)
	for i := 0; i < len(ballast); i += 4096 {
		ballast[i] = 1
	}
	p := start(t, nil)
	settled(t, p)
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	if had := p.pool.current.about.RSSBytes; had < 32<<20 || had > 300<<20 {
		t.Errorf("the interpreter says that it has %d MiB", had>>20)
	}
	runtime.KeepAlive(ballast)
}
