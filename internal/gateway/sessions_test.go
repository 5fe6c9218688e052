package gateway_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

var alice, bob = gateway.Caller{Name: "alice"}, gateway.Caller{Name: "bob"}

func cellOf(caller gateway.Caller, session, code string) gateway.Request {
	return gateway.Request{ID: "r", Route: gateway.RouteTools, Caller: caller, Tool: "python", Code: []byte(code), Cell: &gateway.Cell{Session: session}}
}

// runCell demands a cell's output and state.
func runCell(t *testing.T, g *gateway.Gateway, req gateway.Request, output, state string) gateway.Answer {
	t.Helper()
	ans, err := g.Solve(t.Context(), req)
	if err != nil {
		t.Fatalf("%q: %v", req.Code, err)
	}
	if string(ans.Stdout) != output || ans.Result.SessionState != state || ans.Session == "" {
		t.Errorf("%q: printed %q, state %q in %q; want %q, %q", req.Code, ans.Stdout, ans.Result.SessionState, ans.Session, output, state)
	}
	return ans
}

func open(t *testing.T, g *gateway.Gateway, caller gateway.Caller) string {
	t.Helper()
	v, err := g.OpenSession(t.Context(), caller, "python", 0)
	if err != nil {
		t.Fatal(err)
	}
	return v.ID
}

func TestDefaultSessionOfEachCaller(t *testing.T) {
	n, w := newNotebook()
	g := gateway.New(w.cfg)
	first := runCell(t, g, cellOf(alice, "", "+a"), "", executor.SessionNew)
	runCell(t, g, cellOf(bob, "", "+b"), "", executor.SessionNew)
	second := runCell(t, g, cellOf(alice, "", "all"), "a", executor.SessionKept)
	runCell(t, g, cellOf(bob, "", "all"), "b", executor.SessionKept)
	runCell(t, g, cellOf(alice, first.Session, "all"), "a", executor.SessionKept)
	if first.Session != second.Session || !strings.HasPrefix(first.Session, "s_") || len(first.Session) < 24 {
		t.Errorf("sessions %q and %q", first.Session, second.Session)
	}
	for _, q := range w.policy.asked {
		if !q.Session {
			t.Errorf("the policy was asked %+v", q)
		}
	}
	for _, src := range n.sources {
		if strings.Contains(src.SessionID, first.Session) {
			t.Error("the plugin was told the caller's id")
		}
	}
	e := w.journal.entries[0]
	if e.Session == "" || len(e.Session) > 16 || strings.Contains(first.Session, e.Session) || e.State != executor.SessionNew {
		t.Errorf("journal: %+v", e)
	}
}

func TestSessionsOfOthersDoNotExist(t *testing.T) {
	_, w := newNotebook()
	g := gateway.New(w.cfg)
	id := open(t, g, alice)
	ctx := t.Context()
	_, run := g.Solve(ctx, cellOf(bob, id, "all"))
	_, get := g.Session(ctx, bob, id)
	_, fork := g.ForkSession(ctx, bob, id, nil)
	_, reset := g.ResetSession(ctx, bob, id, nil)
	_, interrupt := g.InterruptSession(ctx, bob, id)
	for what, err := range map[string]error{
		"run": run, "get": get, "fork": fork, "reset": reset, "interrupt": interrupt, "delete": g.DeleteSession(ctx, bob, id),
	} {
		if !errors.Is(err, gateway.ErrSessionUnknown) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if list, err := g.Sessions(ctx, bob); err != nil || len(list) != 0 {
		t.Errorf("bob sees %+v, %v", list, err)
	}
	if list, err := g.Sessions(ctx, alice); err != nil || len(list) != 1 || list[0].ID != id {
		t.Errorf("alice sees %+v, %v", list, err)
	}
}

func TestSessionCaps(t *testing.T) {
	n, w := newNotebook()
	g := gateway.New(w.cfg)
	ids := []string{open(t, g, alice), open(t, g, alice)}
	runCell(t, g, cellOf(alice, "", "+a"), "", executor.SessionNew) // her third
	if _, err := g.OpenSession(t.Context(), alice, "python", 0); !errors.Is(err, gateway.ErrSessionLimit) {
		t.Errorf("alice's fourth: %v", err)
	}
	if _, err := g.ForkSession(t.Context(), alice, ids[0], nil); !errors.Is(err, gateway.ErrSessionLimit) {
		t.Errorf("alice's fork: %v", err)
	}
	open(t, g, bob)
	if _, err := g.Solve(t.Context(), cellOf(gateway.Caller{Name: "carol"}, "", "+c")); !errors.Is(err, gateway.ErrSessionsFull) {
		t.Errorf("the fifth of all: %v", err)
	}
	if err := g.DeleteSession(t.Context(), alice, ids[0]); err != nil {
		t.Fatal(err)
	}
	n.mu.Lock()
	n.full = gateway.ErrSessionsFull
	n.mu.Unlock()
	if _, err := g.OpenSession(t.Context(), bob, "python", 0); !errors.Is(err, gateway.ErrSessionsFull) {
		t.Errorf("what the plugin refuses: %v", err)
	}
	n.mu.Lock()
	n.full = nil
	n.mu.Unlock()
	open(t, g, bob) // the refused one has left its place
}

func TestSessionMemoryIsBounded(t *testing.T) {
	n, w := newNotebook()
	w.cfg.Sessions.MemoryTotal = 10 << 20
	now := time.Now()
	w.cfg.Now = func() time.Time { return now }
	g := gateway.New(w.cfg)
	id := open(t, g, alice)
	n.mu.Lock()
	n.memory = 12 << 20
	n.mu.Unlock()
	now = now.Add(time.Minute)
	if _, err := g.OpenSession(t.Context(), bob, "python", 0); !errors.Is(err, gateway.ErrSessionMemory) {
		t.Errorf("open: %v", err)
	}
	if _, err := g.ForkSession(t.Context(), alice, id, nil); !errors.Is(err, gateway.ErrSessionMemory) {
		t.Errorf("fork: %v", err)
	}
	runCell(t, g, cellOf(alice, id, "+a"), "", executor.SessionKept)
	if v, err := g.Session(t.Context(), alice, id); err != nil || v.MemoryBytes != 12<<20 {
		t.Errorf("%+v, %v", v, err)
	}
	n.mu.Lock()
	n.listError = errors.New("no list")
	n.mu.Unlock()
	if v, err := g.Session(t.Context(), alice, id); err != nil || v.MemoryBytes != 0 {
		t.Errorf("without a list: %+v, %v", v, err)
	}
}

// inBackground runs a cell and says when it waits.
func inBackground(t *testing.T, g *gateway.Gateway, n *notebook, req gateway.Request) (done chan outcome) {
	t.Helper()
	done = make(chan outcome, 1)
	go func() {
		ans, err := g.Solve(context.WithoutCancel(t.Context()), req)
		done <- outcome{ans, err}
	}()
	<-n.waiting
	return done
}

type outcome struct {
	gateway.Answer
	err error
}

func TestCellsAreSerialAndTheWaitIsBounded(t *testing.T) {
	n, w := newNotebook()
	n.hold = make(chan struct{})
	w.cfg.Limits.Concurrency = 1
	g := gateway.New(w.cfg)
	id := open(t, g, alice)
	running := inBackground(t, g, n, cellOf(alice, id, "wait"))
	now, brief := time.Duration(0), 10*time.Millisecond
	for _, wait := range []time.Duration{now, brief} {
		req := cellOf(alice, id, "all")
		req.Cell.Wait = &wait
		if _, err := g.Solve(t.Context(), req); !errors.Is(err, gateway.ErrSessionBusy) {
			t.Errorf("wait %v: %v", wait, err)
		}
		if _, err := g.ResetSession(t.Context(), alice, id, &wait); !errors.Is(err, gateway.ErrSessionBusy) {
			t.Errorf("reset, wait %v: %v", wait, err)
		}
		if _, err := g.ForkSession(t.Context(), alice, id, &wait); !errors.Is(err, gateway.ErrSessionBusy) {
			t.Errorf("fork, wait %v: %v", wait, err)
		}
	}
	if v, _ := g.Session(t.Context(), alice, id); v.State != gateway.SessionRunning || !v.Expires.IsZero() {
		t.Errorf("while it runs: %+v", v)
	}
	gone, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := g.Solve(gone, cellOf(alice, id, "all"))
		left <- err
	}()
	leave()
	if err := <-left; !errors.Is(err, gateway.ErrGone) {
		t.Errorf("a caller who left: %v", err)
	}
	var others sync.WaitGroup
	for range 8 {
		others.Go(func() { runCell(t, g, cellOf(alice, id, "+x"), "", executor.SessionKept) })
	}
	close(n.hold)
	others.Wait()
	if o := <-running; o.err != nil || o.Status != gateway.Completed {
		t.Errorf("the cell: %+v", o)
	}
	runCell(t, g, cellOf(alice, id, "all"), "xxxxxxxx", executor.SessionKept)
	if list, _ := g.Sessions(t.Context(), alice); len(list) != 1 {
		t.Errorf("a refused fork left %+v", list)
	}
}

func TestForkAndReset(t *testing.T) {
	n, w := newNotebook()
	g := gateway.New(w.cfg)
	first := runCell(t, g, cellOf(alice, "", "+a"), "", executor.SessionNew).Session
	v, err := g.ForkSession(t.Context(), alice, first, nil)
	if err != nil || v.ID == first || v.Default || v.State != gateway.SessionIdle {
		t.Fatalf("%+v, %v", v, err)
	}
	runCell(t, g, cellOf(alice, v.ID, "+b"), "", executor.SessionKept)
	runCell(t, g, cellOf(alice, v.ID, "all"), "ab", executor.SessionKept)
	runCell(t, g, cellOf(alice, first, "all"), "a", executor.SessionKept)
	if v, err = g.ResetSession(t.Context(), alice, first, nil); err != nil || v.ID != first || !v.Default || v.Cells != 2 {
		t.Errorf("%+v, %v", v, err)
	}
	runCell(t, g, cellOf(alice, "", "all"), "", executor.SessionKept)
	n.restart()
	if _, err = g.ForkSession(t.Context(), alice, first, nil); !errors.Is(err, gateway.ErrSessionLost) {
		t.Errorf("fork of a lost session: %v", err)
	}
	if _, err = g.ResetSession(t.Context(), alice, first, nil); err != nil {
		t.Errorf("reset of a lost session: %v", err)
	}
	runCell(t, g, cellOf(alice, first, "all"), "", executor.SessionNew)
}

func TestForkOfASessionWithoutCells(t *testing.T) {
	n, w := newNotebook()
	g := gateway.New(w.cfg)
	id := open(t, g, alice)
	if _, err := g.ForkSession(t.Context(), alice, id, nil); err != nil {
		t.Error(err)
	}
	n.mu.Lock()
	clear(n.process.pages)
	n.mu.Unlock()
	if _, err := g.ForkSession(t.Context(), alice, id, nil); !errors.Is(err, gateway.ErrSessionLost) {
		t.Errorf("fork of what the plugin forgot: %v", err)
	}
}
