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
	n.submitErr = gateway.ErrPluginDied // a text that the host refuses for what it did
	if _, err := g.Solve(t.Context(), cellOf(alice, "", "all")); !errors.Is(err, gateway.ErrPluginDied) {
		t.Errorf("a text that is refused: %v", err)
	}
	n.submitErr = executor.ErrSessionLost
	if _, err := g.Solve(t.Context(), cellOf(alice, "", "all")); !errors.Is(err, gateway.ErrPluginDied) {
		t.Errorf("a plugin that loses each session: %v", err)
	}
	n.submitErr = nil
	runCell(t, g, cellOf(alice, "", "all"), "", executor.SessionLost)
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

// A cell that waits for a slot is interrupted too, and told when its session goes.
func TestStoppedBeforeTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		stop func(t *testing.T, g *gateway.Gateway, id string)
		want string
	}{
		"interrupted": {func(t *testing.T, g *gateway.Gateway, id string) {
			if ran, err := g.InterruptSession(t.Context(), alice, id); !ran || err != nil {
				t.Errorf("%v, %v", ran, err)
			}
		}, executor.SessionKept},
		"deleted": {func(t *testing.T, g *gateway.Gateway, id string) {
			if err := g.DeleteSession(t.Context(), alice, id); err != nil {
				t.Error(err)
			}
		}, executor.SessionLost},
	} {
		t.Run(name, func(t *testing.T) {
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
			c.stop(t, g, id)
			if o := <-waiting; o.err != nil || o.Status != gateway.Cancelled || o.Result.SessionState != c.want {
				t.Errorf("%+v", o)
			}
			close(n.hold)
			<-running
		})
	}
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

// TestDeletedSessionsCellIsCancelled: a plugin that says that the session is lost says
// so because it was deleted.
func TestDeletedSessionsCellIsCancelled(t *testing.T) {
	n, w := newNotebook()
	g := gateway.New(w.cfg)
	id := open(t, g, alice)
	running := inBackground(t, g, n, cellOf(alice, id, "deaf"))
	if err := g.DeleteSession(t.Context(), alice, id); err != nil {
		t.Fatal(err)
	}
	if o := <-running; o.err != nil || o.Status != gateway.Cancelled || o.Result.SessionState != executor.SessionLost {
		t.Errorf("%+v", o)
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
