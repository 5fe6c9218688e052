package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

var _ gateway.Keeper = (*target)(nil)

// KeepsSessions implements gateway.Keeper.
func (t *target) KeepsSessions() bool {
	about := t.pool.about.Load()
	return about != nil && keepsSessions(*about)
}

func keepsSessions(d executor.Description) bool {
	for _, f := range d.Features {
		if f == "sessions" {
			return true
		}
	}
	return false
}

// OpenSession implements gateway.Keeper: in the process with the least to do.
func (t *target) OpenSession(ctx context.Context, o executor.SessionOptions) (gateway.Kept, error) {
	return t.pool.openSession(ctx, o)
}

// Sessions implements gateway.Keeper.
func (t *target) Sessions(ctx context.Context) ([]executor.SessionInfo, error) {
	return t.pool.sessions(ctx)
}

func (p *pool) openSession(ctx context.Context, o executor.SessionOptions) (gateway.Kept, error) {
	l, err := p.acquire(ctx, digest{})
	if err != nil {
		return nil, err
	}
	defer l.release()
	l.opened()
	if !l.gen.client.KeepsSessions() {
		return nil, fmt.Errorf("plugin %q keeps no sessions: %w", p.name, gateway.ErrUnsupported)
	}
	if _, err := l.gen.client.OpenSession(ctx, o); err != nil {
		return nil, p.sessionFault(l.gen, err)
	}
	return p.newKept(l.gen, o.ID), nil
}

// sessions asks every process that is in service.
func (p *pool) sessions(ctx context.Context) ([]executor.SessionInfo, error) {
	p.mu.Lock()
	serving := append([]*generation(nil), p.serving...)
	p.mu.Unlock()
	var all []executor.SessionInfo
	var faults []error
	for _, g := range serving {
		list, err := g.client.ListSessions(ctx)
		if err != nil {
			faults = append(faults, p.sessionFault(g, err))
			continue
		}
		all = append(all, list...)
	}
	if len(faults) == len(serving) {
		return nil, errors.Join(append(faults, gateway.ErrPluginDown)...)
	}
	return all, nil
}

// sessionFault maps an error of a session verb. What a process has to say of a
// session is no fault of the process.
func (p *pool) sessionFault(g *generation, err error) error {
	switch {
	case errors.Is(err, executor.ErrSessionUnknown):
		return fmt.Errorf("plugin %q: %w", p.name, executor.ErrSessionLost)
	case errors.Is(err, executor.ErrSessionBusy):
		return fmt.Errorf("plugin %q: %w", p.name, gateway.ErrSessionBusy)
	case errors.Is(err, wire.ErrInternal):
		return fmt.Errorf("plugin %q: %w: %w", p.name, gateway.ErrPluginFault, err)
	case errors.Is(err, executor.ErrTooManySessions):
		return fmt.Errorf("plugin %q: %w", p.name, gateway.ErrSessionsFull)
	}
	return p.fault(g, err)
}

// kept is a session and the process that holds it. It implements gateway.Kept.
type kept struct {
	pool *pool
	gen  *generation
	id   string
	once sync.Once // it counts with its process until it is closed
}

var _ gateway.Kept = (*kept)(nil)

func (p *pool) newKept(g *generation, id string) *kept {
	p.mu.Lock()
	defer p.mu.Unlock()
	g.sessions++
	return &kept{pool: p, gen: g, id: id}
}

// ID implements gateway.Kept.
func (k *kept) ID() string { return k.id }

// Gone implements gateway.Kept.
func (k *kept) Gone() <-chan struct{} { return k.gen.done() }

// Submit implements gateway.Kept.
func (k *kept) Submit(ctx context.Context, src executor.Source) (gateway.Submission, error) {
	src.SessionID = k.id
	sub, err := k.pool.submitOnce(ctx, src, src.Digest(), k.gen)
	if err != nil {
		return nil, k.lostIfGone(err)
	}
	return sub, nil
}

// lostIfGone says of an error of a process that is gone, or goes, that the
// session went with it. An error that leaves the process in service (a text that
// is refused for what it did before, say) leaves the session too.
func (k *kept) lostIfGone(err error) error {
	k.pool.mu.Lock()
	gone := k.gen.closed || k.gen.dead()
	k.pool.mu.Unlock()
	if gone {
		return fmt.Errorf("%w: %w", executor.ErrSessionLost, err)
	}
	return err
}

// Fork implements gateway.Kept.
func (k *kept) Fork(ctx context.Context, newID string) (gateway.Kept, error) {
	var made gateway.Kept
	err := k.call(func() error {
		if _, err := k.gen.client.ForkSession(ctx, k.id, newID); err != nil {
			return err
		}
		made = k.pool.newKept(k.gen, newID)
		return nil
	})
	return made, err
}

// Reset implements gateway.Kept.
func (k *kept) Reset(ctx context.Context) error {
	return k.call(func() error { return k.gen.client.ResetSession(ctx, k.id) })
}

// Interrupt implements gateway.Kept.
func (k *kept) Interrupt(ctx context.Context) error {
	return k.call(func() error { return k.gen.client.InterruptSession(ctx, k.id) })
}

// Close implements gateway.Kept.
func (k *kept) Close(ctx context.Context) error {
	k.once.Do(func() {
		k.pool.mu.Lock()
		k.gen.sessions--
		k.pool.mu.Unlock()
	})
	return k.call(func() error {
		_, err := k.gen.client.CloseSession(ctx, k.id)
		return err
	})
}

func (k *kept) call(do func() error) error {
	if k.gen.dead() {
		return fmt.Errorf("plugin %q ended: %w", k.pool.name, executor.ErrSessionLost)
	}
	if err := do(); err != nil {
		return k.lostIfGone(k.pool.sessionFault(k.gen, err))
	}
	return nil
}

// acquireIn is acquire in the one process that holds a session.
func (p *pool) acquireIn(ctx context.Context, g *generation, text digest) (*lease, error) {
	busy := time.NewTimer(p.times.busy)
	defer busy.Stop()
	for {
		l, up, changed := p.takeIn(g, text)
		switch {
		case l != nil:
			return l, nil
		case !up:
			return nil, fmt.Errorf("plugin %q: the process that held the session is gone: %w", p.name, executor.ErrSessionLost)
		}
		select {
		case <-changed:
		case <-g.done():
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-busy.C:
			return nil, fmt.Errorf("plugin %q has no free slot: %w", p.name, gateway.ErrPluginBusy)
		}
	}
}

func (p *pool) takeIn(g *generation, text digest) (l *lease, up bool, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g.closed || g.dead() {
		return nil, false, nil
	}
	if g.inflight < g.room() {
		return p.leaseOf(g, text), true, nil
	}
	return nil, true, p.changed
}

// leaseOf counts a text in, under the pool's lock.
func (p *pool) leaseOf(g *generation, text digest) *lease {
	g.inflight++
	g.opening++
	g.texts[text]++
	return &lease{pool: p, gen: g, text: text}
}
