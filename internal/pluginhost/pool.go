package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// pool is one plugin: its processes, and the requests that look for one. Its
// lock is held for counting and choosing, never over a call.
type pool struct {
	host    *Host
	name    string
	spec    atomic.Pointer[Plugin] // by which the next process is started
	off     atomic.Bool            // an operator, or the configuration, disabled it
	times   timing
	log     *slog.Logger
	keepers []*keeper
	poison  *poison
	lane    chan struct{} // held by the one suspect that is with the plugin
	about   atomic.Pointer[executor.Description]

	mu      sync.Mutex
	serving []*generation
	like    string
	clash   error         // another plugin has one of its tools
	changed chan struct{} // closed and replaced when something changed that a waiter looks at
}

// Errors of the pool's own.
var (
	errClash   = errors.New("two plugins claim one tool")
	errDrained = errors.New("plugin drains unasked")

	errConnection = errors.New("connection to the plugin was lost")
)

func newPool(h *Host, spec Plugin, times timing) *pool {
	p := &pool{
		host: h, name: spec.Name, times: times, log: h.cfg.Log.With("plugin_name", spec.Name),
		poison: newPoison(times), lane: make(chan struct{}, 1), changed: make(chan struct{}),
	}
	spec = spec.withDefaults()
	p.spec.Store(&spec)
	p.off.Store(spec.Disabled)
	for i := range spec.Instances {
		p.keepers = append(p.keepers, newKeeper(p, i))
	}
	return p
}

// recognise takes the first description into the directory and holds later ones
// against it. A fresh one may differ: what it offers is then given, to be put in
// the place of the former one when its process is in service.
func (p *pool) recognise(spec Plugin, d executor.Description, fresh bool) (*offer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.like != "" && !fresh {
		if likeness(d) != p.like {
			return nil, fmt.Errorf("%w: it describes itself otherwise than before", errMistrust)
		}
		p.about.Store(&d)
		return nil, nil
	}
	o, err := newOffer(p, spec.Tools, d)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMistrust, err)
	}
	if p.like != "" {
		return &o, nil
	}
	p.about.Store(&d)
	if p.clash = p.host.directory.add(o); p.clash != nil {
		return nil, fmt.Errorf("%w: %w", errMistrust, p.clash)
	}
	p.like = likeness(d)
	return nil, nil
}

func (p *pool) clashed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.clash
}

// publish puts a generation into service.
func (p *pool) publish(g *generation) error {
	if g.dead() {
		return errors.New("plugin died as it came up")
	}
	if g.offer != nil {
		if err := p.host.directory.replace(p, *g.offer); err != nil {
			return fmt.Errorf("%w: %w", errMistrust, err)
		}
		p.about.Store(&g.about)
	}
	p.mu.Lock()
	if g.offer != nil {
		p.like = likeness(g.about)
	}
	p.serving = append(p.serving, g)
	p.mu.Unlock()
	p.spec.Store(&g.spec)
	p.wake()
	return nil
}

// close ends new work on g; what runs goes on.
func (p *pool) close(g *generation) {
	p.mu.Lock()
	g.closed = true
	p.mu.Unlock()
}

// remove forgets a generation that has ended.
func (p *pool) remove(g *generation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, s := range p.serving {
		if s == g {
			p.serving = append(p.serving[:i:i], p.serving[i+1:]...)
			return
		}
	}
}

// degrade notes a generation's health and tells whether that is news.
func (p *pool) degrade(g *generation, degraded bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	news := g.degraded != degraded
	g.degraded = degraded
	return news
}

// wake lets every waiter look again.
func (p *pool) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.changed)
	p.changed = make(chan struct{})
}

// lease is a slot of a generation. It is given back once.
type lease struct {
	pool *pool
	gen  *generation
	text digest
	once sync.Once
}

func (l *lease) release() {
	l.once.Do(func() {
		p := l.pool
		p.mu.Lock()
		l.gen.inflight--
		if l.gen.texts[l.text]--; l.gen.texts[l.text] <= 0 {
			delete(l.gen.texts, l.text)
		}
		p.mu.Unlock()
		p.wake()
	})
}

// opened notes that the plugin has the text; Drain will not refuse it any more.
func (l *lease) opened() {
	l.pool.mu.Lock()
	l.gen.opening--
	l.pool.mu.Unlock()
	l.pool.wake()
}

// acquire waits for a process and a slot in it. When ctx ends first the error is
// ctx's; when there is no process in time ErrPluginDown; no slot, ErrPluginBusy.
func (p *pool) acquire(ctx context.Context, text digest) (*lease, error) {
	down, busy := time.NewTimer(p.times.down), time.NewTimer(p.times.busy)
	defer down.Stop()
	defer busy.Stop()
	for {
		l, up, changed := p.take(text)
		if l != nil {
			return l, nil
		}
		patience := busy.C
		if !up {
			if p.hopeless() {
				return nil, fmt.Errorf("plugin %q is %s: %w", p.name, p.state(), gateway.ErrPluginDown)
			}
			patience = down.C
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-patience:
			if up {
				return nil, fmt.Errorf("plugin %q has no free slot: %w", p.name, gateway.ErrPluginBusy)
			}
			return nil, fmt.Errorf("plugin %q is %s: %w", p.name, p.state(), gateway.ErrPluginDown)
		}
	}
}

// take chooses the process with the fewest programs; degraded ones only when
// there is no healthy one, and then to half. up tells that one is in service.
func (p *pool) take(text digest) (l *lease, up bool, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, degraded := range []bool{false, true} {
		var best *generation
		for _, g := range p.serving {
			if g.closed || g.degraded != degraded {
				continue
			}
			up = true
			if g.inflight < g.room() && (best == nil || g.load() < best.load()) {
				best = g
			}
		}
		if best != nil {
			return p.leaseOf(best, text), true, nil
		}
		if up {
			break
		}
	}
	return nil, up, p.changed
}

// load orders processes: by their programs, then by the sessions they hold.
func (g *generation) load() int { return g.inflight<<16 + g.sessions }

// defaultRoom is the bound of a plugin that names none.
const defaultRoom = 256

func (g *generation) room() int {
	room := int(g.about.Capacity.MaxConcurrent)
	if room <= 0 {
		room = defaultRoom
	}
	if g.degraded {
		room = max(1, room/2)
	}
	return room
}

// hopeless: every process is in quarantine or stopping for good.
func (p *pool) hopeless() bool {
	for _, k := range p.keepers {
		switch k.now() {
		case Quarantined, Stopped, Draining, Disabled:
		default:
			return false
		}
	}
	return true
}

// state is that of the process that is best off.
func (p *pool) state() State {
	order := []State{Healthy, Degraded, Starting, Backoff, Draining, Stopping, Quarantined, Disabled, Stopped}
	for _, s := range order {
		for _, k := range p.keepers {
			if k.now() == s {
				return s
			}
		}
	}
	return Stopped
}

func (p *pool) running(g *generation) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return g.inflight
}

// idle waits until nothing is with g, or ctx ends. With opening set it waits
// only for what is on its way to the plugin.
func (p *pool) idle(ctx context.Context, g *generation, opening bool) bool {
	for {
		p.mu.Lock()
		n, changed := g.inflight, p.changed
		if opening {
			n = g.opening
		}
		p.mu.Unlock()
		if n == 0 {
			return true
		}
		select {
		case <-changed:
		case <-g.done():
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// lost takes a generation out of service at the first sign of its end, so that
// nothing new is sent there, and has its keeper look.
func (p *pool) lost(g *generation) {
	p.close(g)
	p.mu.Lock()
	if g.breach == nil {
		g.breach = errConnection
	}
	p.mu.Unlock()
	g.ringAlarm()
}

// mistrust is called with a breach of the contract.
func (p *pool) mistrust(g *generation, err error) {
	p.mu.Lock()
	g.closed = true
	g.breach = fmt.Errorf("%w: %w", errMistrust, err)
	p.mu.Unlock()
	g.ringAlarm()
}

// overran is called when an answer did not come by the host's own deadline.
func (p *pool) overran(g *generation, now time.Time) {
	p.mu.Lock()
	g.overrunIs = g.overruns.add(now)
	p.mu.Unlock()
	g.ringAlarm()
}

// complaint is what requests have found out about g that ends it; nil: nothing.
func (p *pool) complaint(g *generation) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g.breach != nil && errors.Is(g.breach, errMistrust) {
		return g.breach
	}
	if g.overrunIs >= p.times.overruns {
		return errHung
	}
	return g.breach
}

// blame counts a crash against the texts that were with the process. A process
// that SIGKILL or SIGTERM ended was most likely ended by somebody else.
func (p *pool) blame(g *generation, err error) {
	if errors.Is(err, errMistrust) || errors.Is(err, errDrained) || errors.Is(err, errDisabled) || g.dead() && outsider(g) {
		return
	}
	p.mu.Lock()
	texts := make([]digest, 0, len(g.texts))
	for d := range g.texts {
		texts = append(texts, d)
	}
	p.mu.Unlock()
	p.poison.blame(texts, time.Now())
}

func outsider(g *generation) bool {
	sig := g.child.process().Wait().Signal
	return sig == unix.SIGKILL || sig == unix.SIGTERM
}
