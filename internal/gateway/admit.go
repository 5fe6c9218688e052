package gateway

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// slots bounds how many submissions run at once, how many wait for it, and how
// long a wait may be expected to take. What there is, is shared fairly between
// callers. Safe for concurrent use.
type slots struct {
	now   func() time.Time
	queue int

	mu    sync.Mutex
	free  int
	line  line
	bound bound
	kept  map[string]*time.Timer // a slot for who is about to come back
}

func newSlots(l Limits, now func() time.Time) *slots {
	concurrency := max(1, l.Concurrency)
	return &slots{
		now: now, queue: l.Queue, free: concurrency, line: newLine(), kept: map[string]*time.Timer{},
		bound: bound{slots: concurrency, target: l.QueueTarget},
	}
}

// take waits at most wait for a slot. A *BusyError says that there was none in
// time, that nobody more may wait, or that the caller has as many submissions
// inside as it may; ErrGone that the caller left first.
func (s *slots) take(ctx context.Context, caller Caller, wait time.Duration) (release func(), err error) {
	t, release, err := s.join(caller)
	if err != nil || t == nil {
		return release, err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-t.turn:
		return s.called(t)
	case <-timer.C:
		if s.leave(t) {
			return nil, &BusyError{Reason: ErrBusy, After: s.expected(t.caller)}
		}
		return s.called(t) // its turn came at that very moment
	case <-ctx.Done():
		if !s.leave(t) {
			if release, err := s.called(t); err == nil {
				release()
			}
		}
		return nil, ErrGone
	}
}

// join takes a slot (no ticket), or a place in the line.
func (s *slots) join(caller Caller) (t *ticket, release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.now()
	s.line.arrives(caller.Name, at)
	wait := s.bound.wait(s.line.ahead(caller.Name))
	switch {
	case caller.Concurrency > 0 && s.line.inside(caller.Name) >= caller.Concurrency:
		return nil, nil, &BusyError{Reason: ErrCallerBusy, After: s.bound.mean}
	case s.keptFor(caller.Name), s.free > len(s.kept) && s.line.len() == 0:
		s.free--
		s.line.start(caller.Name, at)
		return nil, s.held(caller.Name, at), nil
	case s.bound.tooLong(wait, at):
		return nil, nil, &BusyError{Reason: ErrOverload, After: wait}
	case s.line.len() >= s.queue && !s.line.yield(caller.Name):
		return nil, nil, &BusyError{Reason: ErrQueueFull, After: wait}
	}
	t = &ticket{caller: caller.Name, turn: make(chan struct{})}
	s.line.push(t, at)
	s.bound.lineIs(s.line.len(), at)
	return t, nil, nil
}

// leave takes a place out of the line; false: its turn has come already.
func (s *slots) leave(t *ticket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.line.remove(t)
	s.bound.lineIs(s.line.len(), s.now())
	return left
}

// called is what a ticket gives whose turn is over: a slot, or nothing because
// somebody with fewer places got this one.
func (s *slots) called(t *ticket) (release func(), err error) {
	<-t.turn
	if t.lost {
		return nil, &BusyError{Reason: ErrQueueFull, After: s.expected(t.caller)}
	}
	return s.held(t.caller, t.begun), nil
}

// held is the release of a slot that a caller holds since then.
func (s *slots) held(caller string, since time.Time) func() {
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		at := s.now()
		s.bound.held(at.Sub(since))
		s.line.soon = min(s.bound.mean/2, longestSoon)
		s.line.done(caller, since, at)
		s.free++
		if s.line.worthAwaiting(caller, at) {
			s.keep(caller)
			return
		}
		s.give(at)
	}
}

// longestSoon bounds how long a slot stands empty for who may come back.
const longestSoon = 20 * time.Millisecond

// keep lets a slot stand empty for a caller for a moment.
func (s *slots) keep(caller string) {
	var timer *time.Timer
	timer = time.AfterFunc(s.line.soon, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.kept[caller] == timer {
			delete(s.kept, caller)
			s.give(s.now())
		}
	})
	s.kept[caller] = timer
}

// keptFor takes the slot that is kept for a caller, if there is one.
func (s *slots) keptFor(caller string) bool {
	timer := s.kept[caller]
	if timer == nil {
		return false
	}
	timer.Stop()
	delete(s.kept, caller)
	return true
}

// give hands a free slot to who is next.
func (s *slots) give(at time.Time) {
	next := s.line.pop(at)
	if next == nil {
		return
	}
	s.free--
	next.begun = at
	s.bound.lineIs(s.line.len(), at)
	close(next.turn)
}

// expected is how long one more of a caller's would wait.
func (s *slots) expected(caller string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound.wait(s.line.ahead(caller))
}

// BusyError is a refusal for load. It wraps its reason, which wraps ErrBusy.
type BusyError struct {
	Reason error
	After  time.Duration // when it is worth asking again, as far as can be told; 0: unknown
}

// Error implements error.
func (e *BusyError) Error() string {
	return fmt.Sprintf("%v; a wait of %v is expected", e.Reason, e.After)
}

// Unwrap gives the reason.
func (e *BusyError) Unwrap() error { return e.Reason }

// RetryAfter is how long to wait before asking again.
func (e *BusyError) RetryAfter() time.Duration { return e.After }

// Waiting counts the submissions that wait for a slot.
func (g *Gateway) Waiting() int {
	g.slots.mu.Lock()
	defer g.slots.mu.Unlock()
	return g.slots.line.len()
}

// Running counts the submissions that have a slot.
func (g *Gateway) Running() int {
	g.slots.mu.Lock()
	defer g.slots.mu.Unlock()
	return g.Slots() - g.slots.free
}

// Slots is how many submissions may run at once.
func (g *Gateway) Slots() int { return max(1, g.cfg.Limits.Concurrency) }
