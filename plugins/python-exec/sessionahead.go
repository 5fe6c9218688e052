package main

import (
	"context"
	"errors"
)

// ahead is the copy of a session that its next cell is to run in, made while
// nobody waits for it. At rest both are stopped.
type ahead struct {
	done chan struct{} // closed when the rest is known
	img  *image        // nil: the session cannot be copied now
	err  error         // the session is lost
}

// goAhead brings a session to rest: what it held before its last cell, if
// anything, is freed, what it holds now is stopped, and copied if that can be.
// The caller has the turn, or is alone with the session; it is not kept waiting.
func (s *session) goAhead(before *image) {
	a := &ahead{done: make(chan struct{})}
	s.mu.Lock()
	at, over := s.at, s.over
	if !over {
		s.next = a
	}
	s.mu.Unlock()
	if before != nil {
		before.discard()
	}
	if over {
		return
	}
	go func() {
		defer close(a.done)
		if a.prepare(at); a.err == nil {
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

// prepare stops a session and makes the copy, if it can be made.
func (a *ahead) prepare(at *image) {
	if a.err = at.rest(); a.err != nil {
		return
	}
	img, _, err := at.step(context.Background(), command{Only: true})
	if err == nil {
		err = img.rest()
	}
	if a.img = img; err != nil && !errors.Is(err, errNotAtRest) {
		a.err = err
	}
}

// discard frees the copy.
func (a *ahead) discard() {
	if a == nil {
		return
	}
	<-a.done
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
		<-a.done
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
	<-a.done
	return a.err
}
