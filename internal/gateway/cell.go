package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-gateway/sluice/executor"
)

// seat is a submission's place in a session: its turn.
type seat struct {
	g    *Gateway
	s    *session
	run  *cellRun
	told string // "new" or "lost" when the session was started for this cell

	answered bool
}

// sit waits for the turn of the session that a request names, and gives the
// context in which an interrupt can end the cell. Without a session it gives ctx.
func (w *walk) sit(ctx context.Context) (context.Context, error) {
	if w.req.Cell == nil {
		return ctx, nil
	}
	begin := w.g.cfg.Now()
	s, err := w.enterSession(ctx)
	w.stages.Wait = w.g.cfg.Now().Sub(begin)
	if err != nil {
		return ctx, err
	}
	ctx, cancel := context.WithCancel(ctx)
	w.seat = &seat{g: w.g, s: s, run: &cellRun{cancel: cancel, done: make(chan struct{})}}
	w.g.sessions.begin(s, w.seat.run)
	return ctx, nil
}

// enterSession waits for the session's turn. A default session that ends by
// idleness meanwhile is another one now.
func (w *walk) enterSession(ctx context.Context) (*session, error) {
	for attempt := 0; ; attempt++ {
		s, err := w.findSession()
		if err != nil {
			return nil, err
		}
		w.session = s.id
		err = w.g.enter(ctx, s, w.req.Cell.Wait)
		if !errors.Is(err, ErrSessionUnknown) || w.req.Cell.Session != "" || attempt > 0 {
			return s, err
		}
	}
}

// findSession finds the session that a request names, or its caller's default.
func (w *walk) findSession() (*session, error) {
	keeper, err := w.g.keeper(w.req.Tool)
	if errors.Is(err, ErrUnsupported) && w.req.Cell.Session != "" {
		return nil, ErrSessionUnknown // where none are kept, this is none
	}
	if err != nil {
		return nil, err
	}
	if w.req.Cell.Session == "" {
		return w.g.sessions.defaultOf(w.req.Caller.Name, keeper)
	}
	s, err := w.g.sessions.find(w.req.Caller.Name, w.req.Cell.Session)
	if err != nil {
		return nil, err
	}
	if s.key.language != keeper.Language().ID {
		return nil, &InvalidError{Field: "session_id", Reason: "the session is of another language: " + s.key.language}
	}
	return s, nil
}

// stand gives the turn on.
func (t *seat) stand() {
	if t == nil {
		return
	}
	t.run.cancel()
	if !t.answered && t.told == executor.SessionLost {
		t.g.sessions.setLost(t.s, true) // it is yet to be told
	}
	t.g.sessions.leave(t.s)
	close(t.run.done)
}

// submit sends the cell to the process that holds the session. A session that is
// found gone is started afresh, once: nothing of this cell has run.
func (t *seat) submit(ctx context.Context, src executor.Source) (Submission, error) {
	for attempt := 0; ; attempt++ {
		if err := t.open(ctx); err != nil {
			return nil, err
		}
		sub, err := t.s.kept.Submit(ctx, src)
		switch {
		case err == nil && (sub.Ended() == nil || sub.Ended().Status != executor.StatusSessionLost):
			return sub, nil
		case err == nil:
			sub.Close()
			err = fmt.Errorf("start a session: %w: it is lost at once", ErrPluginFault)
		case !errors.Is(err, executor.ErrSessionLost):
			return nil, err
		}
		if attempt > 0 || ctx.Err() != nil {
			return nil, fmt.Errorf("%w: %w", ErrPluginDied, err)
		}
		t.g.lose(t.s)
	}
}

// open has the session hold a state, and notes what is to be told of it.
func (t *seat) open(ctx context.Context) error {
	fresh := t.s.kept == nil
	had := t.s.kept
	if err := t.g.ensure(ctx, t.s); err != nil {
		return err
	}
	switch {
	case t.s.lost:
		t.told = executor.SessionLost
	case fresh || t.s.kept != had:
		t.told = executor.SessionNew
	}
	t.g.sessions.setLost(t.s, false)
	return nil
}

// running notes that an interrupt reaches the cell in its plugin from now on.
func (t *seat) running() {
	if t == nil {
		return
	}
	t.g.sessions.mu.Lock()
	defer t.g.sessions.mu.Unlock()
	t.run.inPlugin = true
	t.s.cells++
}

// died is the result of a cell whose process ended under it.
func (t *seat) died(err error) (executor.Result, bool) {
	if t == nil || !errors.Is(err, ErrPluginDied) && !errors.Is(err, executor.ErrSessionLost) {
		return executor.Result{}, false
	}
	return executor.Result{Status: executor.StatusSessionLost, SessionState: executor.SessionLost, Problem: &executor.Problem{
		Type: "SessionLost", Message: "the session is lost: its process ended while this cell ran",
	}}, true
}

// ended makes a lost session of one that was deleted meanwhile: whoever did that ended
// the cell too.
func (t *seat) ended(res *executor.Result) {
	if t != nil && res.Status == executor.StatusSessionLost && t.g.sessions.ended(t.s) {
		res.Status, res.Problem = executor.StatusCancelled, nil
	}
}

// settle says what became of the session by this cell, and forgets a state that
// is gone.
func (t *seat) settle(res *executor.Result) {
	if t == nil {
		return
	}
	t.answered = true
	state := res.SessionState
	if state == "" {
		state = t.lookUp(res.Status)
	}
	if state == executor.SessionLost {
		kept := t.s.kept
		t.g.sessions.setKept(t.s, nil) // told now: the next cell finds a new one
		closeKept(kept)
	}
	switch {
	case t.told == executor.SessionLost, state == executor.SessionLost:
		state = executor.SessionLost
	case t.told == executor.SessionNew && state == executor.SessionKept:
		state = executor.SessionNew
	}
	res.SessionState = state
}

// lookUp asks the plugin for a session whose cell ended without a word on it.
func (t *seat) lookUp(status executor.Status) string {
	if status != executor.StatusCancelled {
		return executor.SessionKept
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	list, err := t.s.keeper.Sessions(ctx)
	if err != nil || t.s.kept == nil {
		return executor.SessionLost
	}
	for _, i := range list {
		if i.ID == t.s.kept.ID() {
			return executor.SessionRolledBack
		}
	}
	return executor.SessionLost
}

// stopped is the answer to a cell that an interrupt ended before it ran, or
// whose end only says that it was ended.
func (w *walk) stopped(caller context.Context, err error) (Answer, bool) {
	if w.seat == nil || !errors.Is(err, ErrGone) || caller.Err() != nil {
		return Answer{}, false
	}
	state := executor.SessionKept
	if w.g.sessions.ended(w.seat.s) {
		state = executor.SessionLost // it was deleted meanwhile
	}
	ans, fault := w.answer(executor.Result{Status: executor.StatusCancelled, SessionState: state})
	return ans, fault == nil
}
