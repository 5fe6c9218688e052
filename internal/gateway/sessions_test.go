package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// notebook is a plugin that keeps sessions: each remembers the words "+word" of
// its cells, and "all" prints them. "wait" runs until it is let go, interrupted
// or stopped; "crash" takes the process down; "drop" loses the session.
type notebook struct {
	plugin
	none bool // keeps no sessions

	mu        sync.Mutex
	process   *process
	opened    int
	options   []executor.SessionOptions
	memory    uint64
	full      error
	listError error
	stubborn  bool // does not heed an interrupt
	silent    bool // says nothing of the session's state
	waiting   chan string
}

// process is one life of the plugin.
type process struct {
	gone  chan struct{}
	pages map[string]*page
}

type page struct {
	words     string
	interrupt chan struct{}
	ended     chan struct{}
}

func newNotebook() (*notebook, *world) {
	w := newWorld()
	n := &notebook{plugin: plugin{tree: w.plugin.tree, result: w.plugin.result}, waiting: make(chan string, 8)}
	n.restart()
	w.cfg.Executors = n
	w.cfg.Sessions = gateway.SessionLimits{Max: 4, MaxPerOwner: 3, Idle: time.Hour}
	w.cfg.Limits.Default.StdoutBytes = 1 << 10
	return n, w
}

func (n *notebook) restart() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process != nil {
		close(n.process.gone)
	}
	n.process = &process{gone: make(chan struct{}), pages: map[string]*page{}}
}

func (n *notebook) Find(tool string) (gateway.Target, error) {
	if tool != "python" {
		return nil, gateway.ErrUnknownTool
	}
	return n, nil
}

func (n *notebook) KeepsSessions() bool { return !n.none }

func (n *notebook) OpenSession(_ context.Context, o executor.SessionOptions) (gateway.Kept, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.full != nil {
		return nil, n.full
	}
	n.opened++
	n.options = append(n.options, o)
	n.process.pages[o.ID] = newPage("")
	return &keptPage{n: n, p: n.process, id: o.ID}, nil
}

func newPage(words string) *page {
	return &page{words: words, interrupt: make(chan struct{}, 1), ended: make(chan struct{})}
}

func (n *notebook) Sessions(context.Context) (list []executor.SessionInfo, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id := range n.process.pages {
		list = append(list, executor.SessionInfo{ID: id, MemoryBytes: n.memory})
	}
	return list, n.listError
}

func (n *notebook) held() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.process.pages)
}

type keptPage struct {
	n  *notebook
	p  *process
	id string
}

func (k *keptPage) ID() string            { return k.id }
func (k *keptPage) Gone() <-chan struct{} { return k.p.gone }

func (k *keptPage) page() (*page, error) {
	k.n.mu.Lock()
	defer k.n.mu.Unlock()
	p := k.p.pages[k.id]
	if k.p != k.n.process || p == nil {
		return nil, fmt.Errorf("no page: %w", executor.ErrSessionLost)
	}
	return p, nil
}

func (k *keptPage) Submit(_ context.Context, src executor.Source) (gateway.Submission, error) {
	k.n.mu.Lock()
	k.n.sources = append(k.n.sources, src)
	err := k.n.submitErr
	k.n.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if _, err := k.page(); err != nil {
		if k.p == k.n.process {
			lost := &executor.Result{Status: executor.StatusSessionLost, SessionState: executor.SessionLost}
			return &cell{submission: submission{p: &plugin{ended: lost}}}, nil
		}
		return nil, err
	}
	return &cell{submission: submission{p: &k.n.plugin}, k: k, code: string(src.Code)}, nil
}

func (k *keptPage) Fork(_ context.Context, newID string) (gateway.Kept, error) {
	p, err := k.page()
	if err != nil {
		return nil, err
	}
	k.n.mu.Lock()
	defer k.n.mu.Unlock()
	k.p.pages[newID] = newPage(p.words)
	return &keptPage{n: k.n, p: k.p, id: newID}, nil
}

func (k *keptPage) Reset(context.Context) error {
	p, err := k.page()
	if err == nil {
		p.words = ""
	}
	return err
}

func (k *keptPage) Interrupt(context.Context) error {
	p, err := k.page()
	if err == nil && !k.n.stubborn {
		p.interrupt <- struct{}{}
	}
	return err
}

func (k *keptPage) Close(context.Context) error {
	p, err := k.page()
	if err != nil {
		return err
	}
	k.n.mu.Lock()
	defer k.n.mu.Unlock()
	delete(k.p.pages, k.id)
	close(p.ended)
	return nil
}

type cell struct {
	submission
	k    *keptPage
	code string
}

func (c *cell) Run(ctx context.Context, _ executor.Grant, out func(executor.Stream, []byte)) (executor.Result, error) {
	p, err := c.k.page()
	if err != nil {
		return executor.Result{}, err
	}
	kept := executor.Result{Status: executor.StatusOK, SessionState: executor.SessionKept}
	if c.k.n.silent {
		kept.SessionState = ""
	}
	verb, word, _ := strings.Cut(c.code, "+")
	switch verb {
	case "":
		p.words += word
	case "all":
		out(executor.Stdout, []byte(p.words))
	case "crash":
		c.k.n.restart()
		return executor.Result{}, gateway.ErrPluginDied
	case "drop":
		_ = c.k.Close(ctx)
		kept.Status, kept.SessionState = executor.StatusCrashed, executor.SessionLost
	case "slip": // the session is lost after the cell, with nobody told
		_ = c.k.Close(ctx)
	case "wait":
		return c.wait(ctx, p, kept)
	}
	return kept, nil
}

func (c *cell) wait(ctx context.Context, p *page, kept executor.Result) (executor.Result, error) {
	c.k.n.waiting <- c.code
	select {
	case <-p.interrupt:
		kept.Status = executor.StatusRuntimeError
		kept.Problem = &executor.Problem{Type: "KeyboardInterrupt"}
	case <-p.ended:
		kept.Status, kept.SessionState = executor.StatusCancelled, executor.SessionLost
	case <-c.k.n.hold:
	case <-ctx.Done():
		kept.Status, kept.SessionState = executor.StatusCancelled, executor.SessionRolledBack
		if c.k.n.silent {
			kept.SessionState = ""
		}
	}
	return kept, nil
}

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

func TestWhatBecomesOfTheState(t *testing.T) {
	n, w := newNotebook()
	g := gateway.New(w.cfg)
	runCell(t, g, cellOf(alice, "", "+a"), "", executor.SessionNew)

	ans := runCell(t, g, cellOf(alice, "", "crash"), "", executor.SessionLost)
	if ans.Status != gateway.Failed || !strings.Contains(ans.Summary(), "session is lost") {
		t.Errorf("a cell whose process died: %q, %q", ans.Status, ans.Summary())
	}
	runCell(t, g, cellOf(alice, "", "all"), "", executor.SessionNew)

	runCell(t, g, cellOf(alice, "", "+b"), "", executor.SessionKept)
	n.restart()
	if list, _ := g.Sessions(t.Context(), alice); list[0].State != gateway.SessionGone {
		t.Errorf("after a restart: %+v", list)
	}
	runCell(t, g, cellOf(alice, "", "all"), "", executor.SessionLost)
	runCell(t, g, cellOf(alice, "", "all"), "", executor.SessionKept)

	runCell(t, g, cellOf(alice, "", "+c"), "", executor.SessionKept)
	runCell(t, g, cellOf(alice, "", "drop"), "", executor.SessionLost)
	runCell(t, g, cellOf(alice, "", "all"), "", executor.SessionNew)

	runCell(t, g, cellOf(alice, "", "slip"), "", executor.SessionKept)
	runCell(t, g, cellOf(alice, "", "all"), "", executor.SessionLost)
	if n.held() != 1 {
		t.Errorf("the plugin holds %d sessions", n.held())
	}
}

// A loss that an error kept from being told is told by the next answer.
func TestLossIsToldEvenAfterAnError(t *testing.T) {
	n, w := newNotebook()
	g := gateway.New(w.cfg)
	runCell(t, g, cellOf(alice, "", "+a"), "", executor.SessionNew)
	n.restart()
	w.policy.err = gateway.ErrPolicyFault
	if _, err := g.Solve(t.Context(), cellOf(alice, "", "all")); !errors.Is(err, gateway.ErrPolicyFault) {
		t.Fatal(err)
	}
	w.policy.err = nil
	runCell(t, g, cellOf(alice, "", "all"), "", executor.SessionLost)
	n.submitErr = gateway.ErrPluginBusy
	if _, err := g.Solve(t.Context(), cellOf(alice, "", "all")); !errors.Is(err, gateway.ErrPluginBusy) {
		t.Errorf("a busy plugin: %v", err)
	}
	n.submitErr = gateway.ErrPluginDied
	if _, err := g.Solve(t.Context(), cellOf(alice, "", "all")); !errors.Is(err, gateway.ErrPluginDied) {
		t.Errorf("a plugin that dies each time: %v", err)
	}
}

func TestRefusedCellsLeaveTheState(t *testing.T) {
	n, w := newNotebook()
	g := gateway.New(w.cfg)
	runCell(t, g, cellOf(alice, "", "+a"), "", executor.SessionNew)
	w.policy.decision.Allow = false
	if ans := runCell(t, g, cellOf(alice, "", "+b"), "", executor.SessionKept); ans.Status != gateway.Rejected {
		t.Errorf("status %q", ans.Status)
	}
	w.policy.decision.Allow = true
	runCell(t, g, cellOf(alice, "", "all"), "a", executor.SessionKept)
	if v, _ := g.Sessions(t.Context(), alice); v[0].Cells != 2 {
		t.Errorf("cells that ran: %+v", v)
	}
	n.ended = &executor.Result{Status: executor.StatusCompileError, Problem: &executor.Problem{Type: "SyntaxError"}}
	if ans := runCell(t, g, cellOf(alice, "", "+"), "", executor.SessionKept); ans.Status != gateway.SyntaxError {
		t.Errorf("status %q", ans.Status)
	}
}

func TestInterrupt(t *testing.T) {
	for name, c := range map[string]struct {
		stubborn, silent bool
		status           gateway.Status
		state            string
	}{
		"heeded":           {false, false, gateway.Failed, executor.SessionKept},
		"ended":            {true, false, gateway.Cancelled, executor.SessionRolledBack},
		"ended in silence": {true, true, gateway.Cancelled, executor.SessionRolledBack},
	} {
		t.Run(name, func(t *testing.T) {
			n, w := newNotebook()
			n.stubborn, n.silent = c.stubborn, c.silent
			g := gateway.New(w.cfg)
			id := open(t, g, alice)
			if ran, err := g.InterruptSession(t.Context(), alice, id); ran || err != nil {
				t.Errorf("at rest: %v, %v", ran, err)
			}
			runCell(t, g, cellOf(alice, id, "+a"), "", executor.SessionKept)
			running := inBackground(t, g, n, cellOf(alice, id, "wait"))
			begin := time.Now()
			if ran, err := g.InterruptSession(t.Context(), alice, id); !ran || err != nil {
				t.Errorf("%v, %v", ran, err)
			}
			select {
			case o := <-running:
				if o.err != nil || o.Status != c.status || o.Result.SessionState != c.state || time.Since(begin) > 5*time.Second {
					t.Errorf("%q, state %q, %v", o.Status, o.Result.SessionState, o.err)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("the cell goes on")
			}
			runCell(t, g, cellOf(alice, id, "all"), "a", executor.SessionKept)
		})
	}
}

// A cell that waits for a slot is interrupted too.
func TestInterruptBeforeTheRun(t *testing.T) {
	n, w := newNotebook()
	n.hold = make(chan struct{})
	w.cfg.Limits.Concurrency = 1
	g := gateway.New(w.cfg)
	running := inBackground(t, g, n, cellOf(bob, "", "wait"))
	id := open(t, g, alice)
	waiting := make(chan outcome, 1)
	go func() {
		ans, err := g.Solve(context.WithoutCancel(t.Context()), cellOf(alice, id, "+a"))
		waiting <- outcome{ans, err}
	}()
	for g.Waiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	if ran, err := g.InterruptSession(t.Context(), alice, id); !ran || err != nil {
		t.Errorf("%v, %v", ran, err)
	}
	if o := <-waiting; o.err != nil || o.Status != gateway.Cancelled || o.Result.SessionState != executor.SessionKept {
		t.Errorf("%+v", o)
	}
	close(n.hold)
	<-running
}

func TestCallerLeavesACell(t *testing.T) {
	n, w := newNotebook()
	g := gateway.New(w.cfg)
	runCell(t, g, cellOf(alice, "", "+a"), "", executor.SessionNew)
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan outcome, 1)
	go func() {
		ans, err := g.Solve(ctx, cellOf(alice, "", "wait"))
		done <- outcome{ans, err}
	}()
	<-n.waiting
	leave()
	if o := <-done; o.err == nil && o.Status != gateway.Cancelled {
		t.Errorf("%+v", o)
	}
	runCell(t, g, cellOf(alice, "", "all"), "a", executor.SessionKept)
}

func TestDeleteEndsTheRunningCell(t *testing.T) {
	n, w := newNotebook()
	g := gateway.New(w.cfg)
	id := open(t, g, alice)
	running := inBackground(t, g, n, cellOf(alice, id, "wait"))
	queued := make(chan error, 1)
	go func() {
		_, err := g.Solve(context.WithoutCancel(t.Context()), cellOf(alice, id, "all"))
		queued <- err
	}()
	if err := g.DeleteSession(t.Context(), alice, id); err != nil {
		t.Fatal(err)
	}
	if o := <-running; o.err != nil || o.Status != gateway.Cancelled {
		t.Errorf("%+v", o)
	}
	if err := <-queued; !errors.Is(err, gateway.ErrSessionUnknown) {
		t.Errorf("a cell that waited: %v", err)
	}
	if n.held() != 0 {
		t.Errorf("the plugin holds %d sessions", n.held())
	}
	if err := g.DeleteSession(t.Context(), alice, id); !errors.Is(err, gateway.ErrSessionUnknown) {
		t.Errorf("once more: %v", err)
	}
}

func TestIdleSessionsExpire(t *testing.T) {
	n, w := newNotebook()
	w.cfg.Sessions.Idle = 40 * time.Millisecond
	g := gateway.New(w.cfg)
	v, err := g.OpenSession(t.Context(), alice, "python", time.Hour) // lowered to what the operator allows
	if err != nil || v.Expires.Sub(v.LastUsed) != w.cfg.Sessions.Idle {
		t.Fatalf("%+v, %v", v, err)
	}
	runCell(t, g, cellOf(alice, "", "+a"), "", executor.SessionNew)
	for deadline := time.Now().Add(10 * time.Second); n.held() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the sessions do not end")
		}
	}
	if _, err := g.Solve(t.Context(), cellOf(alice, v.ID, "all")); !errors.Is(err, gateway.ErrSessionUnknown) {
		t.Errorf("a cell in it: %v", err)
	}
	runCell(t, g, cellOf(alice, "", "all"), "", executor.SessionLost) // the default one is started afresh, and it is told
	if n.options[0].Idle <= w.cfg.Sessions.Idle {
		t.Errorf("the plugin ends sessions after %v already", n.options[0].Idle)
	}
}

func TestBusySessionsDoNotExpire(t *testing.T) {
	n, w := newNotebook()
	n.hold = make(chan struct{})
	w.cfg.Sessions.Idle = 20 * time.Millisecond
	g := gateway.New(w.cfg)
	runCell(t, g, cellOf(alice, "", "+a"), "", executor.SessionNew)
	running := inBackground(t, g, n, cellOf(alice, "", "wait"))
	time.Sleep(3 * w.cfg.Sessions.Idle)
	close(n.hold)
	if o := <-running; o.err != nil || o.Result.SessionState != executor.SessionKept || o.Status != gateway.Completed {
		t.Errorf("%+v", o)
	}
}

func TestSessionsWhereNoneAreKept(t *testing.T) {
	n, w := newNotebook()
	n.none = true
	g := gateway.New(w.cfg)
	_, opened := g.OpenSession(t.Context(), alice, "python", 0)
	_, cell := g.Solve(t.Context(), cellOf(alice, "", "all"))
	_, named := g.Solve(t.Context(), cellOf(alice, "s_x", "all"))
	_, other := g.OpenSession(t.Context(), alice, "cobol", 0)
	if !errors.Is(opened, gateway.ErrUnsupported) || !errors.Is(cell, gateway.ErrUnsupported) ||
		!errors.Is(named, gateway.ErrSessionUnknown) || !errors.Is(other, gateway.ErrUnknownTool) || g.KeepsSessions("python") {
		t.Errorf("open %v, cell %v, named %v, other %v", opened, cell, named, other)
	}
	n.none = false
	w.cfg.Sessions.Max = 0
	if gateway.New(w.cfg).KeepsSessions("python") {
		t.Error("sessions are kept that are switched off")
	}
}

func TestManyCellsOfManySessions(t *testing.T) {
	_, w := newNotebook()
	w.cfg.Sessions = gateway.SessionLimits{Max: 64, MaxPerOwner: 64, Idle: time.Hour}
	w.cfg.Limits.Concurrency, w.cfg.Limits.Queue = 4, 1000
	g := gateway.New(w.cfg)
	var all sync.WaitGroup
	for s := range 8 {
		id := open(t, g, alice)
		for range 4 {
			all.Go(func() {
				for range 10 {
					runCell(t, g, cellOf(alice, id, fmt.Sprintf("+%d", s)), "", executor.SessionKept)
				}
			})
		}
	}
	all.Wait()
	list, err := g.Sessions(t.Context(), alice)
	if err != nil || len(list) != 8 {
		t.Fatalf("%d sessions, %v", len(list), err)
	}
	for s, v := range list {
		runCell(t, g, cellOf(alice, v.ID, "all"), strings.Repeat(fmt.Sprint(s), 40), executor.SessionKept)
	}
}
