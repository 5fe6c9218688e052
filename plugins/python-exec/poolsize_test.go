package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sluice-gateway/sluice/executor"
)

func TestSizeFollowsWhatIsAskedFor(t *testing.T) {
	s := newSize(settings{WaitingChildren: 2, MostWaiting: 5, WaitingBytes: 1 << 30})
	is := func(step string, want int) {
		t.Helper()
		if s.want != want {
			t.Errorf("%s: %d are wanted, not %d", step, s.want, want)
		}
	}
	s.taken(1)
	s.look(false)
	is("one of two was taken", 2)
	for range 2 {
		s.missed()
	}
	is("two found none", 4)
	for range 9 {
		s.missed()
	}
	is("many found none", 5)
	s.look(false)
	is("all were in use", 5)
	s.taken(4)
	s.taken(3)
	s.look(false)
	is("three were not", 2)
	s.missed()
	s.look(false)
	s.look(false)
	is("nobody came", 2)
	if !s.look(true) || s.look(true) {
		t.Error("that memory is short is told once, when it begins")
	}
	s.missed()
	is("memory is short", 0)
	if !s.look(false) {
		t.Error("that memory is there again is told")
	}
	is("memory is there again", 2)
}

func TestSizeKeepsWithinItsMemory(t *testing.T) {
	for bytes, want := range map[uint64]int{0: 2, 12 << 20: 3, 1 << 40: 9} {
		s := newSize(settings{WaitingChildren: 2, MostWaiting: 9, WaitingBytes: bytes})
		if s.most != want {
			t.Errorf("within %d MiB %d may wait, not %d", bytes>>20, s.most, want)
		}
	}
}

func TestShortOfMemory(t *testing.T) {
	const psi = "some avg10=%s avg60=0.00 avg300=0.00 total=5\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n"
	const plenty, little = "MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n", "MemTotal: 9000000 kB\nMemAvailable: 300000 kB\n"
	for name, c := range map[string]struct {
		waits, info string
		want        bool
	}{
		"quiet": {"0.00", plenty, false}, "waits": {"10.50", plenty, true}, "little is left": {"0.00", little, true},
		"not told": {"", "", false}, "garbage": {"x", "MemAvailable: many kB\n", false}, "of a small machine": {"0.00", "MemTotal: 900000 kB\nMemAvailable: 300000 kB\n", false},
	} {
		proc := t.TempDir()
		if err := os.Mkdir(filepath.Join(proc, "pressure"), 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"pressure/memory": strings.ReplaceAll(psi, "%s", c.waits), "meminfo": c.info} {
			if c.info == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(proc, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := shortOfMemory(proc); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if shortOfMemory(filepath.Join(t.TempDir(), "none")) {
		t.Error("memory is short where nothing tells of it")
	}
}

// TestPoolGrowsAndShrinks: a burst has more children wait for the next one; who finds
// memory short has none wait, and is served all the same.
func TestPoolGrowsAndShrinks(t *testing.T) {
	p := start(t, map[string]any{"waiting_children": 2, "waiting_children_most": 6})
	idle := func() int {
		p.pool.mu.Lock()
		defer p.pool.mu.Unlock()
		return len(p.pool.idle)
	}
	eventually(t, "two children wait", func() bool { return idle() == 2 })
	var burst sync.WaitGroup
	for range 8 {
		burst.Go(func() { run(t, p, "import time\ntime.sleep(0.3)", granted()) })
	}
	burst.Wait()
	eventually(t, "more children wait after a burst", func() bool { return idle() == 6 })
	p.pool.look(false)
	p.pool.look(false)
	eventually(t, "two children wait", func() bool { return idle() == 2 })
	p.pool.look(true)
	if n := idle(); n > 0 {
		t.Errorf("%d children wait while memory is short", n)
	}
	if o := run(t, p, "print(1)", granted()); o.status() != executor.StatusOK || o.stdout != "1\n" {
		t.Errorf("a program while memory is short: %v %q", o.status(), o.stdout)
	}
	if err := p.pool.ready(); err != nil {
		t.Errorf("not ready while memory is short: %v", err)
	}
	p.pool.look(false)
	eventually(t, "two children wait again", func() bool { return idle() == 2 })
}
