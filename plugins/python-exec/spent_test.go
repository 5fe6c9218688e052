package main

import (
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
