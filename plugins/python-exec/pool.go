package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/procfs"

	"github.com/sluice-gateway/sluice/executor"
)

// pool keeps children ready, from one zygote at a time, and replaces a zygote
// that died or is due.
type pool struct {
	ground ground
	cfg    settings
	log    *slog.Logger
	ctx    context.Context // ends with close
	end    context.CancelFunc
	bg     sync.WaitGroup

	buffers sync.Pool // of drain

	mu       sync.Mutex
	wake     *sync.Cond
	current  *zygote
	idle     []*child // oldest first
	size     size     // of idle
	waiters  []chan *child
	spent    []*child  // done with, oldest first: see lay
	readers  []*reader // that wait for a text, the last used at the end
	resting  *time.Timer
	later    *time.Timer // a child is made in place of one that is at work
	making   int         // children on their way
	moved    time.Time   // when one set out while none was on its way, or last arrived
	hurry    int         // children wanted now, beside the waiters
	slots    []int
	lastErr  error // of the last start or fork; nil after a success
	failures failures
	closed   bool
}

const (
	// mostChildren bounds children alive at once: each has its own uid.
	mostChildren = 256
	// makers is how many children are on their way at once.
	makers      = 2
	startWithin = 60 * time.Second
	// lookEvery is how long it takes until children that nobody wanted are given up.
	lookEvery = 10 * time.Second
)

func newPool(g ground, log *slog.Logger) (*pool, error) {
	if g.groupWall().InForce {
		var err error
		if g.folds, err = openFolds(); err != nil {
			return nil, err
		}
	}
	p := &pool{ground: g, cfg: g.cfg, size: newSize(g.cfg), log: log}
	p.ctx, p.end = context.WithCancel(context.Background())
	p.wake = sync.NewCond(&p.mu)
	p.resting = time.AfterFunc(readerIdle, p.rest)
	p.later = time.AfterFunc(leaveAlone, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.hasten()
	})
	for n := mostChildren; n > 0; n-- {
		p.slots = append(p.slots, n)
	}
	p.hurry = p.size.want
	p.bg.Add(1 + makers)
	go p.tend()
	for range makers {
		go p.make()
	}
	return p, nil
}

// acquire takes a ready child, or waits for one until ctx ends.
func (p *pool) acquire(ctx context.Context) (*child, error) {
	p.mu.Lock()
	for len(p.idle) > 0 {
		c := p.idle[0]
		p.idle = p.idle[1:]
		if c.alive() {
			p.size.taken(len(p.idle))
			p.replace(leaveAlone)
			p.mu.Unlock()
			return c, nil
		}
		c.discard()
	}
	if p.closed {
		p.mu.Unlock()
		return nil, executor.ErrOverloaded
	}
	p.size.missed()
	ch := make(chan *child, 1)
	p.waiters = append(p.waiters, ch)
	p.wake.Broadcast()
	p.mu.Unlock()
	select {
	case c := <-ch:
		if c == nil {
			return nil, executor.ErrOverloaded
		}
		return c, nil
	case <-ctx.Done():
		p.abandon(ch)
		return nil, context.Cause(ctx)
	}
}

// replace has a child made in place of one that was taken, at once when few are left,
// else after a while. Called locked.
func (p *pool) replace(after time.Duration) {
	if len(p.idle) < (p.size.want+1)/2 {
		p.hasten()
		return
	}
	p.later.Reset(after)
}

func (p *pool) hasten() {
	p.hurry = p.size.want
	p.wake.Broadcast()
}

// leaveAlone is how long a child that is at work has the processors for itself.
const leaveAlone = 8 * time.Millisecond

// abandon takes a waiter back; a child that it was given meanwhile is kept.
func (p *pool) abandon(ch chan *child) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, w := range p.waiters {
		if w == ch {
			p.waiters = append(p.waiters[:i], p.waiters[i+1:]...)
			return
		}
	}
	if c := <-ch; c != nil {
		p.keep(c)
	}
}

// keep puts a child that nobody waits for among the ready ones, if there is
// room. Called locked.
func (p *pool) keep(c *child) {
	if p.closed || c.z != p.current || len(p.idle) >= p.size.want {
		c.discard()
		return
	}
	p.idle = append(p.idle, c)
	p.wake.Broadcast() // see refill
}

// wanted is how many children are to be made now. Called locked.
func (p *pool) wanted() int {
	want := len(p.waiters) - p.making
	if p.hurry > 0 {
		want = max(want, len(p.waiters)+p.hurry-len(p.idle)-p.making)
	}
	return want
}

// make makes children while they are wanted.
func (p *pool) make() {
	defer p.bg.Done()
	for {
		p.mu.Lock()
		for !p.closed && (p.current == nil || p.wanted() <= 0 || len(p.slots) == 0 || p.failures.pausing) {
			p.wake.Wait()
		}
		if p.closed {
			p.mu.Unlock()
			return
		}
		z := p.current
		uid, release := p.slot(z)
		if p.making == 0 {
			p.moved = time.Now()
		}
		p.making++
		p.mu.Unlock()
		c, err := z.spawn(uid, release, false)
		p.made(z, c, err)
	}
}

// slot takes a uid for one child. Called locked.
func (p *pool) slot(z *zygote) (uid int, release func()) {
	n := p.slots[len(p.slots)-1]
	p.slots = p.slots[:len(p.slots)-1]
	if z.about.UIDs {
		uid = p.cfg.UIDBase + n - 1
	}
	return uid, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.slots = append(p.slots, n)
		p.wake.Broadcast()
	}
}

func (p *pool) made(z *zygote, c *child, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.making--
	defer p.unlay()
	if p.lastErr = err; err == nil {
		p.moved = time.Now()
		p.failures.row = 0
	}
	switch {
	case err != nil:
		if p.closed {
			return
		}
		p.failed(z, err)
	case len(p.waiters) > 0 && z == p.current:
		p.waiters[0] <- c
		p.waiters = p.waiters[1:]
	default:
		p.keep(c)
		if len(p.idle) >= p.size.want {
			p.hurry = 0
		}
	}
}

// tend keeps a zygote running: starts the first, the next after a death, and a
// fresh one in time.
func (p *pool) tend() {
	defer p.bg.Done()
	pause := time.Duration(0)
	for p.ctx.Err() == nil {
		z, err := p.start()
		if err != nil {
			p.mu.Lock()
			p.lastErr = err
			p.mu.Unlock()
			p.log.Error("no interpreter", "error", err)
			pause = min(2*pause+100*time.Millisecond, 5*time.Second)
			p.sleep(pause)
			continue
		}
		pause = 0
		p.adopt(z)
		p.watch(z)
	}
}

func (p *pool) start() (*zygote, error) {
	ctx, cancel := context.WithTimeout(p.ctx, startWithin)
	defer cancel()
	return startZygote(ctx, p.ground, p.log)
}

func (p *pool) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.ctx.Done():
	}
}

// adopt makes z the current zygote. Ready children of the one before it are of
// use until they are replaced.
func (p *pool) adopt(z *zygote) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		z.kill()
		return
	}
	if old := p.current; old != nil {
		for _, c := range p.idle {
			c.discard()
		}
		p.idle = nil
		p.dismiss()
		old.retire()
	}
	p.current = z
	for _, c := range p.spent {
		c.discard()
	}
	p.spent = nil
	p.lastErr, p.failures.row = nil, 0
	p.hurry = p.size.want
	p.log.Info("interpreter is warm", "python", z.about.Python, "libraries", z.about.Libraries, "walls", z.walls(), "children_apart_by", z.about.Apart)
	p.wake.Broadcast()
}

// watch returns when z is dead, or due for renewal and idle enough.
func (p *pool) watch(z *zygote) {
	tick, look := time.NewTicker(time.Second), time.NewTicker(lookEvery)
	defer tick.Stop()
	defer look.Stop()
	for {
		select {
		case <-look.C:
			p.look(shortOfMemory(procfs.DefaultMountPoint))
		case <-z.dead:
			p.bury(z)
			return
		case <-p.ctx.Done():
			return
		case <-tick.C:
			if z.due(p.cfg) {
				return
			}
		}
	}
}

func (p *pool) bury(z *zygote) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == z {
		p.current = nil
	}
	kept := p.idle[:0]
	for _, c := range p.idle {
		if c.z == z {
			c.discard()
			continue
		}
		kept = append(kept, c)
	}
	p.idle = kept
	p.dismiss()
	p.unlay()
	if !p.closed {
		p.log.Warn("the interpreter has died; starting another")
	}
}

var errStarting = errors.New("the interpreter is starting")

// ready says whether a submission sent now would find a child.
func (p *pool) ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.current != nil && (len(p.idle) > 0 || p.making > 0 && time.Since(p.moved) < forkWithin):
		return nil
	case p.lastErr != nil:
		return fmt.Errorf("no child is ready: %w", p.lastErr)
	case p.current == nil:
		return errStarting
	case p.making > 0:
		return errSilent
	}
	return nil
}

// close ends everything; children at work die with their zygote.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	idle, waiters, current := p.idle, p.waiters, p.current
	p.idle, p.waiters, p.current = nil, nil, nil
	p.resting.Stop()
	p.later.Stop()
	p.dismiss()
	p.unlay()
	p.wake.Broadcast()
	p.mu.Unlock()
	p.end()
	for _, w := range waiters {
		w <- nil
	}
	for _, c := range idle {
		c.discard()
	}
	if current != nil {
		current.kill()
		<-current.proc.done
	}
	p.bg.Wait()
	if p.ground.folds != nil {
		if err := p.ground.folds.close(); err != nil {
			p.log.Warn("control groups stay", "error", err)
		}
	}
}
