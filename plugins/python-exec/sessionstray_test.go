package main

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// own is a session of p's as it keeps it.
func (n notebook) own(tb testing.TB) *session {
	tb.Helper()
	_, s, err := n.p.session(n.id)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// A cell writes its end frame itself and goes on; when the order for the next copy
// comes nobody answers. Nothing of it may be at work from then on.
func TestSessionThatDoesNotAnswerIsEnded(t *testing.T) {
	t.Parallel()
	n := openSession(t, startCopying(t), "a")
	o := n.cell(t, `
import json, os, struct
end = json.dumps({"exit_code": 0, "value": "", "has_value": False, "figure_bytes": 0, "notes": [], "problem": None, "memory": False, "misplaced": False}).encode()
os.write(3, struct.pack(">cI", b"X", len(end)) + end)
while True:
    pass
`)
	if o.status() != executor.StatusOK {
		t.Fatalf("%s, %v: the frame was to be taken", o.status(), o.err)
	}
	s := n.own(t)
	if err := s.settled(); err == nil {
		t.Error("a session that answers no order is thought to be at rest")
	}
	at, _ := s.state()
	select {
	case <-at.ended:
	case <-time.After(10 * time.Second):
		t.Error("its process goes on")
	}
	if next := n.cell(t, "1"); !errors.Is(next.err, executor.ErrSessionLost) {
		t.Errorf("the next cell: %s, %v", next.status(), next.err)
	}
}

// A cell takes the order for itself: it makes the copy that it may make, has it work
// where nobody stops it, and says that it made none.
func TestSessionHidesNoCopy(t *testing.T) {
	t.Parallel()
	n := openSession(t, startCopying(t), "a")
	n.want(t, `
import gc
session = [o for o in gc.get_objects() if type(o).__name__ == "Session" and hasattr(o, "snapshot")][0]
def copy(ask):
    if session.snapshot.take() == 0:
        while True:
            pass
    return -1, "declined"
session.copy = copy
`, "")
	s := n.own(t)
	if err := s.settled(); !errors.Is(err, errForged) {
		t.Errorf("a copy was made and not handed over: %v", err)
	}
	_, h := s.state()
	h.steps.Lock()
	defer h.steps.Unlock()
	// With its last child the keeper ends, and the namespace with it.
	for begin := time.Now(); h.alive() && h.strays() != nil; time.Sleep(time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatal("the copy goes on")
		}
	}
}

// A cell has the next order answered late, and computes meanwhile, for which there is
// no limit but this one.
func TestSessionThatComputesBetweenCellsIsEnded(t *testing.T) {
	t.Parallel()
	n := openSession(t, startCopying(t), "a")
	n.want(t, `
import gc, time
session = [o for o in gc.get_objects() if type(o).__name__ == "Session" and hasattr(o, "snapshot")][0]
true = session.copy
def copy(ask):
    begin = time.process_time()
    while time.process_time() < begin + 2.2:
        pass
    return true(ask)
session.copy = copy
`, "")
	if err := n.own(t).settled(); err == nil {
		t.Error("it computed between cells, and the session goes on")
	}
}

// A fork of a session that does not do as it is told is no fault of the plugin's.
func TestForkOfSessionThatHidesCopies(t *testing.T) {
	t.Parallel()
	p := startCopying(t)
	n := openSession(t, p, "a")
	n.want(t, `
import gc
session = [o for o in gc.get_objects() if type(o).__name__ == "Session" and hasattr(o, "snapshot")][0]
true = session.copy
def copy(ask):
    if not ask["fork"]:
        return true(ask)
    if session.snapshot.take() == 0:
        while True:
            pass
    return -1, "declined"
session.copy = copy
`, "")
	if _, err := p.ForkSession(t.Context(), "a", "b"); !errors.Is(err, executor.ErrSessionLost) {
		t.Errorf("the fork: %v", err)
	}
}

// A cell raises its limit of address space to the session's own.
func TestCellCannotRaiseItsMemoryLimit(t *testing.T) {
	t.Parallel()
	n := openSession(t, startCopying(t), "a")
	g := granted()
	g.Limits.MemoryBytes, g.Limits.Wall = 32<<20, 30*time.Second
	o := n.cellWith(t, `
import resource, time
resource.setrlimit(resource.RLIMIT_AS, (resource.getrlimit(resource.RLIMIT_AS)[1],) * 2)
data = bytearray(260 << 20)
for i in range(0, len(data), 4096):
    data[i] = 1
time.sleep(60)
`, g)
	if o.status() != executor.StatusMemoryLimit || o.SessionState != executor.SessionRolledBack {
		t.Errorf("%s, %s, %v, %s, %+v", o.status(), o.SessionState, o.err, o.stderr, o.Usage)
	}
}

// The first process of a session is what cells go back to, and, when the session was
// forked before the first cell, another session's state.
func TestForkSignalsNobody(t *testing.T) {
	t.Parallel()
	p := startCopying(t)
	if p.pool.ground.plan.SessionCalls == nil {
		t.Skip("SKIPPED LOUDLY: no system call filters here")
	}
	n := openSession(t, p, "a")
	if _, err := p.ForkSession(t.Context(), "a", "b"); err != nil {
		t.Fatal(err)
	}
	at, _ := n.own(t).state()
	o := notebook{p, "b"}.ends(t, fmt.Sprintf("import os\nos.kill(%d, 9)", at.inner), 5*time.Second, executor.StatusCrashed, executor.SessionRolledBack)
	if o.ForbiddenCall != "kill" {
		t.Errorf("forbidden call %q", o.ForbiddenCall)
	}
	o = notebook{p, "b"}.cell(t, fmt.Sprintf("import resource\nresource.prlimit(%d, resource.RLIMIT_CPU, (0, 0))", at.inner))
	if o.Problem == nil || o.Problem.Type != "PermissionError" {
		t.Errorf("limits of another: %s, %+v", o.status(), o.Problem)
	}
	n.want(t, "1 + 1", "2")
}

// A fork is closed while its own copy is being made: the session that it was forked
// from, in the same house, goes on.
func TestSessionOutlivesItsForks(t *testing.T) {
	t.Parallel()
	n := openSession(t, startCopying(t), "a")
	n.want(t, "x = 1", "")
	for i := range 60 {
		if _, err := n.p.ForkSession(t.Context(), "a", "b"); err != nil {
			t.Fatalf("fork %d: %v", i, err)
		}
		time.Sleep(time.Duration(i%12) * 500 * time.Microsecond) // not awaited: any moment may be the wrong one
		if existed, err := n.p.CloseSession(t.Context(), "b"); !existed || err != nil {
			t.Fatalf("close fork %d: %v, %v", i, existed, err)
		}
	}
	n.want(t, "x", "1")
}
