package main

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ahead is the copy of a session that its next cell is to run in, made while
// nobody waits for it. At rest both are stopped.
type ahead struct {
	hasten func()        // the next cell is there
	now    chan struct{} // closed by hasten
	done   chan struct{} // closed when the rest is known
	img    *image        // nil: the session cannot be copied now
	err    error         // the session is lost
}

// goAhead brings a session to rest: what it holds now is stopped, and copied if that
// can be, what it held before its last cell, if anything, is freed. The caller has
// the turn, or is alone with the session; it is not kept waiting.
func (s *session) goAhead(before *image) {
	a := &ahead{now: make(chan struct{}), done: make(chan struct{})}
	a.hasten = sync.OnceFunc(func() { close(a.now) })
	s.mu.Lock()
	at, over := s.at, s.over
	if !over {
		s.next = a
	}
	s.mu.Unlock()
	if over {
		if before != nil {
			before.discard()
		}
		return
	}
	go func() {
		defer close(a.done)
		a.prepare(at)
		if before != nil {
			before.discard()
		}
		if a.err == nil {
			return
		}
		// It does not do as it is told, and may be at work: that it is lost shows
		// when the next cell comes, which may be long.
		at.kill()
		if a.img != nil {
			a.img.kill()
		}
	}()
}

// prepare stops a session and makes the copy, if it can be made: when the answer has
// had its moment, or the next cell is there.
func (a *ahead) prepare(at *image) {
	if a.err = at.rest(); a.err != nil {
		return
	}
	moment := time.NewTimer(aMoment)
	defer moment.Stop()
	select {
	case <-moment.C:
	case <-a.now:
	}
	img, _, err := at.step(context.Background(), command{Only: true})
	if err == nil {
		err = img.rest()
	}
	if a.img = img; err != nil && !errors.Is(err, errNotAtRest) {
		a.err = err
	}
}

// await has the copy made now, and returns when the rest is known.
func (a *ahead) await() {
	a.hasten()
	<-a.done
}

// discard frees the copy.
func (a *ahead) discard() {
	if a == nil {
		return
	}
	a.await()
	if a.img != nil {
		a.img.discard()
	}
}

// ready is what goAhead has made, and is made no more.
func (s *session) ready() *ahead {
	s.mu.Lock()
	a := s.next
	s.next = nil
	s.mu.Unlock()
	if a != nil {
		a.await()
	}
	return a
}

// settled waits until the session is at rest.
func (s *session) settled() error {
	s.mu.Lock()
	a := s.next
	s.mu.Unlock()
	if a == nil {
		return nil
	}
	a.await()
	return a.err
}

// hasten has the copy made now, if it is still to be made.
func (s *session) hasten() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next != nil {
		s.next.hasten()
	}
}
