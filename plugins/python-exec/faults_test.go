package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sluice-gateway/sluice/executor"
)

// descendants lists the processes below pid, zombies apart.
func descendants(tb testing.TB, pid int) []int {
	tb.Helper()
	parents := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended meanwhile
		}
		rest := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		self, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		parent, err := strconv.Atoi(rest[1])
		if err != nil {
			tb.Fatal(err)
		}
		if rest[0] != "Z" {
			parents[parent] = append(parents[parent], self)
		}
	}
	var below []int
	for todo := []int{pid}; len(todo) > 0; todo = todo[1:] {
		below = append(below, parents[todo[0]]...)
		todo = append(todo, parents[todo[0]]...)
	}
	slices.Sort(below)
	return below
}

func (p *plugin) zygotePID() int {
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	if p.pool.current == nil {
		return 0
	}
	return p.pool.current.proc.pid
}

// apartBy is how children are kept apart.
func (p *plugin) apartBy() string {
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	if p.pool.current == nil {
		return ""
	}
	return p.pool.current.about.Apart
}

// top lets the makers fill the pool up.
func (p *pool) top() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hurry = p.cfg.WaitingChildren
	p.wake.Broadcast()
}

// settled waits until the pool is full and nothing else is below the zygote.
func settled(tb testing.TB, p *plugin) {
	tb.Helper()
	tb.Cleanup(func() {
		if tb.Failed() {
			p.pool.mu.Lock()
			defer p.pool.mu.Unlock()
			tb.Logf("idle %d, making %d, waiters %d, hurry %d, slots %d, last error %v", len(p.pool.idle), p.pool.making, len(p.pool.waiters), p.pool.hurry, len(p.pool.slots), p.pool.lastErr)
		}
	})
	eventually(tb, "the pool is full and no other process is left", func() bool {
		p.pool.top()
		p.pool.mu.Lock()
		full := len(p.pool.idle) == p.cfg.WaitingChildren && p.pool.making == 0
		p.pool.mu.Unlock()
		want := p.cfg.WaitingChildren
		if p.apartBy() == byNamespace {
			want += 1 + want // the keeper, and an init for each child
		}
		return full && len(descendants(tb, p.zygotePID())) == want
	})
}

func eventually(tb testing.TB, what string, is func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("in 20 s it never came about that %s", what)
		}
	}
}

func openFiles(tb testing.TB) int {
	tb.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		tb.Fatal(err)
	}
	return len(fds)
}

func TestZygoteKilled(t *testing.T) {
	p := start(t, nil)
	prog, err := p.Parse(t.Context(), executor.Source{Language: languageID, Code: []byte("print('parsed before')")})
	if err != nil {
		t.Fatal(err)
	}
	defer prog.Close()
	old := p.zygotePID()
	if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if o := run(t, p, "print('after')", granted()); o.stdout != "after\n" {
		t.Errorf("the next submission: %v %v %q", o.status(), o.err, o.stdout)
	}
	s := &sink{ceiling: 1 << 20, over: func() {}}
	if res, err := prog.Run(t.Context(), granted(), s); err != nil || res.Status != executor.StatusOK || s.stdout.String() != "parsed before\n" {
		t.Errorf("the submission that was parsed before: %v %v %q", res.Status, err, s.stdout.String())
	}
	eventually(t, "the zygote is another", func() bool { return p.zygotePID() != old })
	settled(t, p)
}

func TestZygoteKilledUnderRunningPrograms(t *testing.T) {
	p := start(t, map[string]any{"waiting_children": 4})
	var group sync.WaitGroup
	got := make([]outcome, 8)
	for i := range got {
		group.Go(func() { got[i] = run(t, p, "import time\nprint('begun')\ntime.sleep(2)\nprint('done')", granted()) })
	}
	eventually(t, "all programs run", func() bool { return len(descendants(t, p.zygotePID())) >= len(got) })
	if err := syscall.Kill(p.zygotePID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	for i, o := range got {
		if s := o.status(); s != executor.StatusOK && s != executor.StatusOverloaded {
			t.Errorf("program %d: %v %v", i, s, o.err)
		}
	}
	if o := run(t, p, "print('after')", granted()); o.stdout != "after\n" {
		t.Errorf("the next submission: %v %v", o.status(), o.err)
	}
}

// killed ends a child as somebody outside might.
func (c *child) killed(tb testing.TB) {
	tb.Helper()
	c.kill()
	<-c.ended
}

// TestKilledWhileParsing: nothing has run yet, so another child takes the text.
func TestKilledWhileParsing(t *testing.T) {
	p := start(t, map[string]any{"waiting_children": 1})
	settled(t, p)
	p.pool.mu.Lock()
	c := p.pool.idle[0]
	p.pool.mu.Unlock()
	c.signal(unix.SIGSTOP)
	got := make(chan outcome)
	go func() { got <- run(t, p, "print(1)", granted()) }()
	eventually(t, "the child is taken", func() bool {
		p.pool.mu.Lock()
		defer p.pool.mu.Unlock()
		return !slices.Contains(p.pool.idle, c)
	})
	c.killed(t)
	if o := <-got; o.stdout != "1\n" {
		t.Errorf("%v %v", o.status(), o.err)
	}
}

// TestKilledBeforeACellIsMade: as TestKilledWhileParsing, between the verdict and the run.
func TestKilledBeforeACellIsMade(t *testing.T) {
	p := start(t, nil)
	n := openSession(t, p, "s")
	n.want(t, "x = 1\nx", "1")
	prog, err := p.Parse(t.Context(), executor.Source{Language: languageID, Code: []byte("x += 1\nprint(x)"), SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	defer prog.Close()
	c, ok := prog.(*cell)
	if !ok {
		t.Fatalf("a cell is a %T", prog)
	}
	c.child.killed(t)
	s := &sink{ceiling: 1 << 20, over: func() {}}
	if res, err := prog.Run(t.Context(), granted(), s); err != nil || res.SessionState != executor.SessionKept || s.stdout.String() != "2\n" {
		t.Errorf("%v %v %s %q", res.Status, err, res.SessionState, s.stdout.String())
	}
}

func TestRenewal(t *testing.T) {
	p := start(t, map[string]any{"renew_after_forks": 5})
	old := p.zygotePID()
	for range 8 {
		if o := run(t, p, "print(1)", granted()); o.stdout != "1\n" {
			t.Fatalf("%v %v", o.status(), o.err)
		}
	}
	eventually(t, "another zygote is at work", func() bool {
		pid := p.zygotePID()
		return pid != 0 && pid != old
	})
	eventually(t, "the old one is gone", func() bool { return syscall.Kill(old, 0) != nil })
	if o := run(t, p, "print(1)", granted()); o.stdout != "1\n" {
		t.Fatalf("%v %v", o.status(), o.err)
	}
}

func TestNothingGrows(t *testing.T) {
	p := start(t, map[string]any{"waiting_children": 4})
	work := func(n int) {
		codes := []string{"print(1)", "1/0", "x = (", "import os\nos._exit(3)", "raise SystemExit('x')"}
		for i := range n {
			run(t, p, codes[i%len(codes)], granted())
		}
		if prog, err := p.Parse(t.Context(), executor.Source{Language: languageID, Code: []byte("1")}); err == nil {
			prog.Close() // refused
		}
		settled(t, p)
	}
	work(20)
	files := openFiles(t)
	work(200)
	if now := openFiles(t); now > files+2 {
		t.Errorf("%d open files after 200 more submissions, %d before", now, files)
	}
}

// TestLeftovers: a process that a program leaves behind, in a session of its
// own and with the program's output open, ends with the program.
func TestLeftovers(t *testing.T) {
	for _, way := range []string{byUID, byNamespace, byGroup} {
		t.Run(way, func(t *testing.T) { testLeftovers(t, way) })
	}
}

func testLeftovers(t *testing.T, way string) {
	// Without the filter, which would end the program at its first such call.
	p := startLess(t, nil, lessened{apart: way, without: []string{wallSeccomp}})
	if got := p.apartBy(); got != way {
		t.Skipf("children cannot be kept apart by %s here, but by %s", way, got)
	}
	begin := time.Now()
	o := run(t, p, lines(
		"import os, time",
		"print('started')",
		"if os.fork() == 0:",
		"    os.setsid()",
		"    if os.fork() == 0:",
		"        time.sleep(600)",
		"    os._exit(0)",
	), granted())
	if o.status() != executor.StatusOK || o.stdout != "started\n" || time.Since(begin) > 5*time.Second {
		t.Errorf("%v %v %q after %v", o.status(), o.err, o.stdout, time.Since(begin))
	}
	settled(t, p)
}

// TestNeighbours: what a program does to everything it can reach does not touch
// a program beside it.
func TestNeighbours(t *testing.T) {
	for _, way := range []string{byUID, byNamespace} {
		t.Run(way, func(t *testing.T) { testNeighbours(t, way) })
	}
}

func testNeighbours(t *testing.T, way string) {
	// Without the filter, which would end the program at its first such call.
	p := startLess(t, nil, lessened{apart: way, without: []string{wallSeccomp}})
	if got := p.apartBy(); got != way {
		t.Skipf("children cannot be kept apart by %s here, but by %s", way, got)
	}
	var group sync.WaitGroup
	var beside outcome
	group.Go(func() {
		beside = run(t, p, "import time\nfor k in range(10):\n    time.sleep(0.1)\nprint('unharmed')", granted())
	})
	eventually(t, "the neighbour runs", func() bool { return len(descendants(t, p.zygotePID())) > 0 })
	o := run(t, p, lines(
		"import os",
		"for pid in range(1, 400):",
		"    if pid != os.getpid():",
		"        try: os.kill(pid, 9)",
		"        except OSError: pass",
		"try: os.kill(-1, 9)",
		"except OSError: pass",
		"print('tried')",
	), granted())
	group.Wait()
	if beside.status() != executor.StatusOK || beside.stdout != "unharmed\n" {
		t.Errorf("the neighbour: %v %v %q", beside.status(), beside.err, beside.stdout)
	}
	if o.stdout != "tried\n" {
		t.Errorf("%v %q %+v", o.status(), o.stdout, o.Problem)
	}
}

// TestForgedFrames: a program that writes on the control socket itself harms
// its own result at most.
func TestForgedFrames(t *testing.T) {
	p := start(t, nil)
	for _, frame := range []string{"b'X' + b'\\xff' * 4", "b'Z\\0\\0\\0\\0'", "b'X\\0\\0\\0\\2{}'", "b'F\\0\\0\\0\\2{}F\\0\\0\\0\\2{}'", "b'T\\0\\0\\0\\1{'", "b'\\0' * 100000"} {
		o := run(t, p, fmt.Sprintf("import os\nos.write(3, %s)\nwhile True: pass", frame), granted())
		if s := o.status(); s == executor.StatusInternal || s == executor.StatusOverloaded {
			t.Errorf("%s: %v %v", frame, s, o.err)
		}
		if o.Usage.Wall > 5*time.Second {
			t.Errorf("%s held the plugin for %v", frame, o.Usage.Wall)
		}
	}
	if o := run(t, p, "print(1)", granted()); o.stdout != "1\n" {
		t.Errorf("the next submission: %v %v", o.status(), o.err)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	p := start(t, nil)
	zygote := p.zygotePID()
	var group sync.WaitGroup
	group.Go(func() { run(t, p, "while True: pass", granted()) })
	eventually(t, "a program runs", func() bool { return len(descendants(t, zygote)) > 0 })
	all := append(descendants(t, zygote), zygote)
	p.close()
	group.Wait()
	eventually(t, "no process is left", func() bool {
		return !slices.ContainsFunc(all, func(pid int) bool { return syscall.Kill(pid, 0) == nil })
	})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := p.Parse(ctx, executor.Source{Code: []byte("1")}); executor.StatusOf(err) != executor.StatusOverloaded {
		t.Errorf("parse after close: %v", err)
	}
}

// TestChildrenThatDoNotStart: the interpreter stays, and with it the sessions;
// when children can be had again they are.
func TestChildrenThatDoNotStart(t *testing.T) {
	p := start(t, map[string]any{"waiting_children": 2})
	n := openSession(t, p, "a")
	n.want(t, "kept = 6 * 7", "")
	filled(t, p)
	if _, s, err := p.session("a"); err != nil || s.settled() != nil {
		t.Fatal("the session is not at rest", err)
	}
	old := p.zygotePID()
	restore := fewFiles(t)
	p.pool.mu.Lock()
	for _, c := range p.pool.idle {
		c.discard()
	}
	p.pool.idle, p.pool.hurry = nil, 2
	p.pool.wake.Broadcast()
	p.pool.mu.Unlock()
	eventually(t, "children fail one after another", func() bool {
		p.pool.mu.Lock()
		defer p.pool.mu.Unlock()
		return p.pool.failures.row >= 3
	})
	eventually(t, "health tells why", func() bool { // not while one is tried
		err := p.CheckHealth(t.Context(), false)
		return err != nil && strings.Contains(err.Error(), "too many open files")
	})
	restore()
	if o := run(t, p, "print('after')", granted()); o.stdout != "after\n" {
		t.Errorf("the next submission: %v %v", o.status(), o.err)
	}
	if now := p.zygotePID(); now != old {
		t.Errorf("the interpreter was replaced: %d, now %d", old, now)
	}
	n.want(t, "kept", "42")
}

// filled waits until no child is on its way.
func filled(tb testing.TB, p *plugin) {
	tb.Helper()
	eventually(tb, "the pool is full", func() bool {
		p.pool.top()
		p.pool.mu.Lock()
		defer p.pool.mu.Unlock()
		return len(p.pool.idle) == p.cfg.WaitingChildren && p.pool.making == 0
	})
}

// fewFiles lets this process open no more files, until restore.
func fewFiles(tb testing.TB) (restore func()) {
	tb.Helper()
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		tb.Fatal(err)
	}
	// Whatever is open stays so; a new one would get a number that is too high.
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: old.Max}); err != nil {
		tb.Fatal(err)
	}
	restore = sync.OnceFunc(func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &old) })
	tb.Cleanup(restore)
	return restore
}
