package gateway

import (
	"context"
	"sync/atomic"
	"time"
)

// slots bounds how many submissions run at once and how many wait for it.
type slots struct {
	free    chan struct{}
	queue   int64
	waiting atomic.Int64
}

func newSlots(concurrency, queue int) *slots {
	return &slots{free: make(chan struct{}, max(1, concurrency)), queue: int64(queue)}
}

// take waits at most wait for a slot; ErrBusy when there is none in time,
// ErrQueueFull when no more may wait, ErrGone when the caller left first.
func (s *slots) take(ctx context.Context, wait time.Duration) (release func(), err error) {
	select {
	case s.free <- struct{}{}:
		return s.release, nil
	default:
	}
	if s.waiting.Add(1) > s.queue {
		s.waiting.Add(-1)
		return nil, ErrQueueFull
	}
	defer s.waiting.Add(-1)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case s.free <- struct{}{}:
		return s.release, nil
	case <-timer.C:
		return nil, ErrBusy
	case <-ctx.Done():
		return nil, ErrGone
	}
}

func (s *slots) release() { <-s.free }

// Waiting counts the submissions that wait for a slot.
func (g *Gateway) Waiting() int { return int(g.slots.waiting.Load()) }
