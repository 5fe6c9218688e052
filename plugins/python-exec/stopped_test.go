package main

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// TestZygoteStopped: an interpreter that does not answer is told of and
// replaced, and those who wait for a child of it get one of the next, or hear
// that there is no room: never that their text took too long.
func TestZygoteStopped(t *testing.T) {
	p := start(t, nil)
	old := p.zygotePID()
	if err := syscall.Kill(old, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	src := executor.Source{Language: languageID, Code: []byte("print('there')")}
	src.ParseLimits.Wall = 2 * time.Second
	var group sync.WaitGroup
	got := make([]outcome, 5)
	for i := range got {
		group.Go(func() { got[i] = runSource(t.Context(), p, src, granted()) })
	}
	eventually(t, "health tells", func() bool { return p.CheckHealth(t.Context(), false) != nil })
	group.Wait()
	for i, o := range got {
		if s := o.status(); s != executor.StatusOverloaded && o.stdout != "there\n" {
			t.Errorf("program %d: %v %v", i, s, o.err)
		}
	}
	eventually(t, "another interpreter is at work", func() bool {
		return p.zygotePID() != old && p.CheckHealth(t.Context(), false) == nil
	})
	if o := runSource(t.Context(), p, src, granted()); o.stdout != "there\n" {
		t.Errorf("the next submission: %v %v", o.status(), o.err)
	}
	eventually(t, "the old one is gone", func() bool { return errors.Is(syscall.Kill(old, 0), syscall.ESRCH) })
}

// TestNoChildInTime: whoever waits for a child in vain is told that there is no
// room, not that the text took too long.
func TestNoChildInTime(t *testing.T) {
	p := start(t, nil)
	settled(t, p)
	p.pool.mu.Lock()
	idle, slots := p.pool.idle, p.pool.slots
	p.pool.idle, p.pool.slots = nil, nil // no child to have, and none to be made
	p.pool.mu.Unlock()
	defer func() {
		p.pool.mu.Lock()
		defer p.pool.mu.Unlock()
		p.pool.idle, p.pool.slots = idle, append(p.pool.slots, slots...)
	}()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errNoChild)
	defer cancel()
	if _, err := p.Parse(ctx, executor.Source{Language: languageID, Code: []byte("1")}); executor.StatusOf(err) != executor.StatusOverloaded {
		t.Errorf("%v", err)
	}
}
