package executortest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire"
)

// sessionChecks are for executors that keep sessions. The sample "keep" binds
// something; the sample "recall" prints what it promises in a session where
// "keep" has run, and something else, or nothing, in any other.
func sessionChecks() []check {
	checks := []check{
		{"T01", "a session keeps state", checkStateKept, false},
		{"T02", "two sessions are apart", checkSessionsApart, false},
		{"T03", "sessions are capped", checkSessionCap, false},
		{"T04", "sessions are listed", checkSessionList, false},
		{"T05", "a closed session is lost", checkSessionClosed, false},
		{"T06", "an idle session ends", checkSessionIdle, false},
		{"T07", "a cell over its limit costs that cell at most", checkCellLimit, false},
		{"T08", "cells of one session are serial", checkCellsSerial, false},
		{"T09", "a fork starts from the state and goes its own way", checkSessionFork, false},
		{"T10", "a reset empties a session", checkSessionReset, false},
		{"T11", "an interrupt ends the cell and keeps the state", checkSessionInterrupt, false},
	}
	for i, c := range checks {
		checks[i].do = func(r reporter, s *suite) {
			if !s.host.KeepsSessions() {
				r.Absentf("no sessions are kept")
			}
			c.do(r, s)
		}
	}
	return checks
}

func (s *suite) sessionID() string { return fmt.Sprintf("k_conformance-%d", s.sessions.Add(1)) }

// openSession starts a session.
func (s *suite) openSession(ctx context.Context, r reporter, idle time.Duration) string {
	r.Helper()
	id := s.sessionID()
	info, err := s.host.OpenSession(ctx, executor.SessionOptions{ID: id, Language: s.lang.ID, Idle: idle})
	if err != nil {
		r.Fatalf("open a session: %v", err)
	}
	if info.ID != id || info.Cells != 0 || info.Busy {
		r.Errorf("a new session says of itself %+v", info)
	}
	return id
}

func (s *suite) closeSession(r reporter, id string) {
	r.Helper()
	ctx, cancel := checkContext()
	defer cancel()
	if _, err := s.host.CloseSession(ctx, id); err != nil {
		r.Errorf("close a session: %v", err)
	}
}

func (s *suite) submitCell(ctx context.Context, r reporter, id string, code []byte) *wire.Submission {
	r.Helper()
	src := s.source(code)
	src.SessionID = id
	sub, err := s.host.Submit(ctx, src)
	if err != nil {
		r.Fatalf("submit a cell: %v", err)
	}
	return sub
}

// cell runs code in a session; an end before the verdict is an outcome too.
func (s *suite) cell(ctx context.Context, r reporter, id string, code []byte, l executor.Limits) (o outcome) {
	r.Helper()
	sub := s.submitCell(ctx, r, id, code)
	defer sub.Close()
	if end := sub.Ended(); end != nil {
		return outcome{Result: *end}
	}
	var err error
	if o.Result, err = sub.Run(ctx, everything(l), o.take); err != nil {
		r.Fatalf("run a cell: %v", err)
	}
	return o
}

// keep opens a session and has it hold something.
func (s *suite) keep(ctx context.Context, r reporter) string {
	r.Helper()
	code := s.sample(r, "keep").Code
	s.sample(r, "recall")
	id := s.openSession(ctx, r, 0)
	if o := s.cell(ctx, r, id, code, executor.Limits{}); o.Status != executor.StatusOK || o.SessionState != executor.SessionKept {
		r.Fatalf("a cell ended %s, %s, state %q", o.Status, problemText(o.Problem), o.SessionState)
	}
	return id
}

// recalls says whether a session holds what keep gave it.
func (s *suite) recalls(ctx context.Context, r reporter, id string) bool {
	r.Helper()
	sample := s.sample(r, "recall")
	o := s.cell(ctx, r, id, sample.Code, executor.Limits{})
	return o.Status == executor.StatusOK && bytes.Equal(o.stdout, sample.WantStdout)
}

func (s *suite) demand(ctx context.Context, r reporter, id string, want bool, when string) {
	r.Helper()
	if got := s.recalls(ctx, r, id); got != want {
		r.Errorf("%s: the session holds what was bound is %v, want %v", when, got, want)
	}
}

func (s *suite) demandLost(ctx context.Context, r reporter, id, when string) {
	r.Helper()
	o := s.cell(ctx, r, id, s.harmless(), executor.Limits{})
	if o.Status != executor.StatusSessionLost || o.SessionState != executor.SessionLost {
		r.Errorf("%s: a cell ended %s, state %q; want SESSION_LOST, lost", when, o.Status, o.SessionState)
	}
}

func checkStateKept(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	id := s.keep(ctx, r)
	defer s.closeSession(r, id)
	s.demand(ctx, r, id, true, "in the next cell")
	s.demand(ctx, r, id, true, "in the cell after it")
	if list := s.samples("syntax_error"); len(list) > 0 {
		if o := s.cell(ctx, r, id, list[0].Code, executor.Limits{}); o.Status != executor.StatusCompileError || o.SessionState != executor.SessionKept {
			r.Errorf("a cell that does not parse ended %s, state %q", o.Status, o.SessionState)
		}
	}
	s.submitCell(ctx, r, id, s.harmless()).Deny("conformance", nil)
	s.demand(ctx, r, id, true, "after cells that did not run")
	s.idle(ctx, r)
}

func checkSessionsApart(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	two := s.openSession(ctx, r, 0)
	defer s.closeSession(r, two)
	one := s.keep(ctx, r)
	defer s.closeSession(r, one)
	s.demand(ctx, r, two, false, "in another session")
	s.demand(ctx, r, one, true, "in its own session")
	if o := s.run(ctx, r, s.sample(r, "recall").Code, executor.Limits{}); bytes.Equal(o.stdout, s.sample(r, "recall").WantStdout) {
		r.Errorf("a submission without a session sees what a session holds")
	}
}

func checkSessionCap(r reporter, s *suite) {
	const most = 64
	ctx, cancel := checkContext()
	defer cancel()
	limit := int(s.about.Capacity.MaxSessions)
	first := s.openSession(ctx, r, 0)
	defer s.closeSession(r, first)
	if limit == 0 || limit > most {
		r.Absentf("capacity.max_sessions is %d, more than are tried (%d)", limit, most)
	}
	for n := 1; ; n++ {
		id := s.sessionID()
		_, err := s.host.OpenSession(ctx, executor.SessionOptions{ID: id, Language: s.lang.ID})
		if errors.Is(err, executor.ErrTooManySessions) {
			if n < limit {
				r.Errorf("refused with %d sessions of %d", n, limit)
			}
			return
		}
		if err != nil {
			r.Fatalf("open session %d: %v", n+1, err)
		}
		defer s.closeSession(r, id)
		if n >= limit {
			r.Fatalf("%d sessions, of %d", n+1, limit)
		}
	}
}

// info gives what is listed of a session.
func (s *suite) info(ctx context.Context, r reporter, id string) (executor.SessionInfo, bool) {
	r.Helper()
	list, err := s.host.ListSessions(ctx)
	if err != nil {
		r.Fatalf("list sessions: %v", err)
	}
	i := slices.IndexFunc(list, func(i executor.SessionInfo) bool { return i.ID == id })
	if i < 0 {
		return executor.SessionInfo{}, false
	}
	return list[i], true
}

func checkSessionList(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	id := s.keep(ctx, r)
	info, found := s.info(ctx, r, id)
	if !found || info.Language != s.lang.ID || info.Cells != 1 || info.Busy {
		r.Errorf("after one cell it is listed: %v, %+v", found, info)
	}
	s.closeSession(r, id)
	if _, found = s.info(ctx, r, id); found {
		r.Errorf("a closed session is listed")
	}
}

func checkSessionClosed(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	id := s.openSession(ctx, r, 0)
	for _, want := range []bool{true, false} {
		if existed, err := s.host.CloseSession(ctx, id); err != nil || existed != want {
			r.Errorf("closed: existed %v, %v; want %v", existed, err, want)
		}
	}
	s.demandLost(ctx, r, id, "after it was closed")
	if err := s.host.ResetSession(ctx, id); !errors.Is(err, executor.ErrSessionUnknown) {
		r.Errorf("reset: %v", err)
	}
	if _, err := s.host.ForkSession(ctx, id, s.sessionID()); !errors.Is(err, executor.ErrSessionUnknown) {
		r.Errorf("fork: %v", err)
	}
	s.idle(ctx, r)
}

func checkSessionIdle(r reporter, s *suite) {
	const idle, patience = 300 * time.Millisecond, 10 * time.Second
	ctx, cancel := checkContext()
	defer cancel()
	id := s.openSession(ctx, r, idle)
	if !within(patience, func() bool { _, found := s.info(ctx, r, id); return !found }) {
		r.Errorf("a session of %v is there after %v", idle, patience)
	}
	s.demandLost(ctx, r, id, "after its time")
}

func checkCellLimit(r reporter, s *suite) {
	const limit = 300 * time.Millisecond
	ctx, cancel := checkContext()
	defer cancel()
	forever := s.sample(r, "forever").Code
	id := s.keep(ctx, r)
	defer s.closeSession(r, id)
	o := s.cell(ctx, r, id, forever, executor.Limits{Wall: limit})
	if o.Status != executor.StatusWallLimit {
		r.Errorf("an endless cell ended %s", o.Status)
	}
	switch o.SessionState {
	case executor.SessionRolledBack, executor.SessionKept: // kept: the cell heeded an interrupt
		s.demand(ctx, r, id, true, "after a cell was ended")
	case executor.SessionLost:
		s.demandLost(ctx, r, id, "after it was told lost")
	default:
		r.Errorf("the state after it is %q", o.SessionState)
	}
	s.idle(ctx, r)
}

func checkCellsSerial(r reporter, s *suite) {
	const pause = 300 * time.Millisecond
	ctx, cancel := checkContext()
	defer cancel()
	id := s.openSession(ctx, r, 0)
	defer s.closeSession(r, id)
	first := s.submitCell(ctx, r, id, s.harmless())
	second := make(chan *wire.Submission, 1)
	go func() {
		src := s.source(s.harmless())
		src.SessionID = id
		sub, err := s.host.Submit(ctx, src)
		if err != nil {
			r.Errorf("submit a second cell: %v", err)
		}
		second <- sub
	}()
	select {
	case sub := <-second:
		if sub != nil && sub.Ended() == nil {
			r.Errorf("a second cell was parsed while the first was with the plugin")
		}
		first.Close()
		closeSubmission(sub)
		return
	case <-time.After(pause):
	}
	first.Close()
	sub := <-second
	if sub != nil && sub.Ended() != nil && sub.Ended().Status == executor.StatusOverloaded {
		r.Errorf("the second cell was refused when the first had ended")
	}
	closeSubmission(sub)
}

func closeSubmission(sub *wire.Submission) {
	if sub != nil {
		sub.Close()
	}
}

func checkSessionFork(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	from := s.keep(ctx, r)
	defer s.closeSession(r, from)
	to := s.sessionID()
	if info, err := s.host.ForkSession(ctx, from, to); err != nil || info.ID != to {
		r.Fatalf("fork: %+v, %v", info, err)
	}
	defer s.closeSession(r, to)
	s.demand(ctx, r, to, true, "in the fork")
	if err := s.host.ResetSession(ctx, to); err != nil {
		r.Errorf("reset: %v", err)
	}
	s.demand(ctx, r, to, false, "in the fork, when it was reset")
	s.demand(ctx, r, from, true, "in the first, when the fork was reset")
}

func checkSessionReset(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	id := s.keep(ctx, r)
	defer s.closeSession(r, id)
	if err := s.host.ResetSession(ctx, id); err != nil {
		r.Fatalf("reset: %v", err)
	}
	s.demand(ctx, r, id, false, "after a reset")
	if o := s.cell(ctx, r, id, s.sample(r, "keep").Code, executor.Limits{}); o.Status != executor.StatusOK {
		r.Errorf("a cell after a reset ended %s", o.Status)
	}
	s.demand(ctx, r, id, true, "when it was bound again")
}

func checkSessionInterrupt(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	forever := s.sample(r, "forever").Code
	id := s.keep(ctx, r)
	defer s.closeSession(r, id)
	if err := s.host.InterruptSession(ctx, id); err != nil {
		r.Errorf("interrupt a session at rest: %v", err)
	}
	ended := make(chan outcome, 1)
	go func() { ended <- s.cell(ctx, r, id, forever, executor.Limits{Wall: 8 * time.Second}) }()
	if !within(checkTime/2, func() bool { info, _ := s.info(ctx, r, id); return info.Busy }) {
		r.Fatalf("a session that runs a cell does not say so")
	}
	begin := time.Now()
	if err := s.host.InterruptSession(ctx, id); err != nil {
		r.Errorf("interrupt: %v", err)
	}
	o := <-ended
	if took := time.Since(begin); took > time.Second+tolerance {
		r.Errorf("the cell went on for %v", took)
	}
	if o.Status == executor.StatusOK || o.SessionState == executor.SessionLost {
		r.Errorf("the cell ended %s, state %q", o.Status, o.SessionState)
	}
	s.demand(ctx, r, id, true, "after an interrupt")
	if err := s.host.InterruptSession(ctx, s.sessionID()); !errors.Is(err, executor.ErrSessionUnknown) {
		r.Errorf("interrupt no session: %v", err)
	}
}
