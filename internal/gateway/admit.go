package gateway

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// slots bounds how many submissions run at once, how many wait for it, and how
// long a wait may be expected to take. Safe for concurrent use.
type slots struct {
	now   func() time.Time
	queue int

	mu    sync.Mutex
	free  int
	line  line
	bound bound
}

func newSlots(l Limits, now func() time.Time) *slots {
	concurrency := max(1, l.Concurrency)
	return &slots{
		now: now, queue: l.Queue, free: concurrency, line: &fifo{},
		bound: bound{slots: concurrency, target: l.QueueTarget},
	}
}

// take waits at most wait for a slot. A *BusyError says that there was none in
// time, or that nobody more may wait; ErrGone that the caller left first.
func (s *slots) take(ctx context.Context, caller string, wait time.Duration) (release func(), err error) {
	t, err := s.join(caller)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return s.held(), nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-t.turn:
		return s.held(), nil
	case <-timer.C:
		if s.leave(t) {
			return nil, &BusyError{Reason: ErrBusy, After: s.expected()}
		}
		return s.held(), nil // its turn came at that very moment
	case <-ctx.Done():
		if !s.leave(t) {
			s.give()
		}
		return nil, ErrGone
	}
}

// join takes a slot (no ticket), or a place in the line.
func (s *slots) join(caller string) (*ticket, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.line.len()
	switch {
	case s.free > 0 && waiting == 0:
		s.free--
		return nil, nil
	case waiting >= s.queue:
		return nil, &BusyError{Reason: ErrQueueFull, After: s.bound.wait(waiting)}
	case s.bound.tooLong(waiting, s.now()):
		return nil, &BusyError{Reason: ErrOverload, After: s.bound.wait(waiting)}
	}
	t := &ticket{caller: caller, turn: make(chan struct{})}
	s.line.push(t)
	s.bound.lineIs(s.line.len(), s.now())
	return t, nil
}

// leave takes a place out of the line; false: its turn has come already.
func (s *slots) leave(t *ticket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.line.remove(t)
	s.bound.lineIs(s.line.len(), s.now())
	return left
}

// held is the release of a slot that is held from now on.
func (s *slots) held() func() {
	begin := s.now()
	return func() {
		s.mu.Lock()
		s.bound.held(s.now().Sub(begin))
		s.mu.Unlock()
		s.give()
	}
}

// give hands a slot to who is next, or keeps it free.
func (s *slots) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.line.pop()
	if next == nil {
		s.free++
		return
	}
	s.bound.lineIs(s.line.len(), s.now())
	close(next.turn)
}

// expected is how long one more would wait.
func (s *slots) expected() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound.wait(s.line.len())
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
