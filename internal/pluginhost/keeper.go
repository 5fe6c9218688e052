package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sluice-gateway/sluice/executor/wire"
)

// keeper keeps one process of a plugin alive. run is its only goroutine, but
// for what ends processes that were exchanged; what others read is under mu.
type keeper struct {
	pool     *pool
	instance int
	log      *slog.Logger
	settled  chan struct{} // closed when it was healthy or failed once
	release  chan struct{} // an operator lets it out of quarantine
	orders   chan *order   // an operator wants it exchanged, stopped or started
	over     chan struct{} // closed when run has ended

	once     sync.Once      // closes settled
	asked    *order         // by which the start at hand was asked for; run's alone
	retiring sync.WaitGroup // processes that were exchanged

	mu        sync.Mutex
	state     State
	why       string
	since     time.Time
	current   *generation
	restarts  int
	lastWords string
	lastEnd   string
	endedAt   time.Time
}

func newKeeper(p *pool, instance int) *keeper {
	return &keeper{
		pool: p, instance: instance, log: p.log.With("instance", instance), orders: make(chan *order), over: make(chan struct{}),
		settled: make(chan struct{}), release: make(chan struct{}, 1), state: Stopped, since: time.Now(),
	}
}

// run lives until ctx ends; then it drains, and stop bounds how long.
func (k *keeper) run(ctx, stop context.Context) {
	defer close(k.over)
	h := newHistory(k.pool.times)
	if k.pool.off.Load() {
		k.rest(ctx)
	}
	for ctx.Err() == nil {
		end := k.live(ctx, stop)
		if ctx.Err() != nil {
			break
		}
		if errors.Is(end.err, errDisabled) {
			k.rest(ctx)
			h = newHistory(k.pool.times)
			continue
		}
		quarantined, delay := h.next(end, time.Now())
		if quarantined {
			h.trial = k.quarantine(ctx, end.err)
			continue
		}
		k.enter(Backoff, text(end.err))
		k.pause(ctx, delay)
	}
	k.enter(Stopped, "")
	k.retiring.Wait()
}

// live is one generation, and those that it is exchanged for, from the first
// one's start to the last one's end.
func (k *keeper) live(ctx, stop context.Context) outcome {
	k.enter(Starting, "")
	begin := time.Now()
	spec, fresh := *k.pool.spec.Load(), k.asked != nil
	if fresh && k.asked.spec != nil {
		spec = *k.asked.spec
	}
	g, err := k.launch(ctx, spec, fresh)
	if err == nil {
		if err = k.pool.publish(g); err != nil {
			g.destroy(k.pool.times.shutdown)
		}
	}
	if err != nil {
		if ctx.Err() == nil {
			k.log.Error("plugin did not start", "error", text(err), "took", time.Since(begin))
		}
		k.answer(Swap{}, err)
		return outcome{err: err}
	}
	for {
		k.adopt(g, time.Since(begin))
		k.answer(Swap{NewPID: g.child.pid(), NewVersion: g.about.Version, Drained: true}, nil)
		begin = time.Now()
		next, err := k.watch(ctx, stop, g)
		if next == nil || err != nil {
			k.retire(stop, g, err)
		}
		if next == nil {
			return outcome{err: err, healthy: time.Since(begin)}
		}
		g, begin = next, time.Now()
	}
}

// adopt makes a generation that is in service the keeper's own.
func (k *keeper) adopt(g *generation, took time.Duration) {
	k.mu.Lock()
	k.current = g
	k.mu.Unlock()
	k.enter(Healthy, "")
	k.log.Info("plugin is healthy", "plugin", g.about.Name, "version", g.about.Version, "pid", g.child.pid(), "took", took)
}

// watch returns nil when ctx ends, and else why the process cannot go on. With
// next, that one is in service in its place; without an error too, the process
// was exchanged and is being ended.
func (k *keeper) watch(ctx, stop context.Context, g *generation) (next *generation, err error) {
	ticker := time.NewTicker(k.pool.times.health)
	defer ticker.Stop()
	x := &exchange{keeper: k, old: g}
	defer func() { next = x.abandon(next, err) }()
	pulse := pulse{times: k.pool.times}
	for {
		select {
		case <-ctx.Done():
			return nil, nil
		case <-g.done():
			return nil, fmt.Errorf("plugin died: %s", g.child.process().Wait())
		case <-g.alarm:
			if err := k.complaint(g); err != nil {
				return nil, err
			}
		case o := <-k.orders:
			if err := x.take(ctx, o); err != nil {
				return nil, err
			}
		case made := <-x.made:
			if next := x.finish(stop, made); next != nil {
				return next, nil
			}
		case <-ticker.C:
		}
		if err := k.look(ctx, g, &pulse); err != nil {
			return nil, err
		}
	}
}

// complaint is what requests found out about g. A lost connection is most often
// the first sign of a death, whose cause says more.
func (k *keeper) complaint(g *generation) error {
	err := k.pool.complaint(g)
	if errors.Is(err, errHung) && k.debugged(g) {
		return nil
	}
	if !errors.Is(err, errConnection) {
		return err
	}
	select {
	case <-g.done():
		return fmt.Errorf("plugin died: %s", g.child.process().Wait())
	case <-time.After(k.pool.times.stack):
		return err
	}
}

// look asks for the plugin's health once and draws the conclusion.
func (k *keeper) look(ctx context.Context, g *generation, p *pulse) error {
	if g.client.Strikes().Breaches > 0 {
		return fmt.Errorf("%w: it broke the contract", errMistrust)
	}
	h, err := g.client.Health(ctx, false)
	if ctx.Err() != nil || g.dead() {
		return nil // the next turn of watch sees it
	}
	if err := verdictOn(h, err); err != nil {
		return err
	}
	switch p.feel(err == nil, err == nil && h.State == wire.HealthReady) {
	case Degraded:
		if k.pool.degrade(g, true) {
			k.enter(Degraded, clip(h.State.String()+" "+h.Detail, maxLogValue))
		}
	case Healthy:
		if k.pool.degrade(g, false) {
			k.enter(Healthy, "")
		}
	case Stopping:
		if k.debugged(g) {
			p.silent = p.times.missed
			return nil
		}
		return errHung
	}
	return nil
}

// verdictOn is what one look alone can end a process for.
func verdictOn(h wire.Health, err error) error {
	switch {
	case errors.Is(err, wire.ErrProtocol):
		return fmt.Errorf("%w: %w", errMistrust, err)
	case err != nil:
		return nil // it may yet answer
	case h.State == wire.HealthFailed:
		return fmt.Errorf("plugin says that it failed: %s", clip(h.Detail, maxLogText))
	case h.State == wire.HealthDraining:
		return errDrained
	}
	return nil
}

var errHung = errors.New("plugin does not answer")

// pulse counts looks at a plugin's health.
type pulse struct {
	times      timing
	silent     int // looks in a row without an answer
	good       int // good answers in a row
	wasDegrade bool
}

// feel says what state one more look means; Stopping means that it hangs.
func (p *pulse) feel(answered, ready bool) State {
	if !answered {
		p.silent++
	} else {
		p.silent = 0
	}
	if answered && ready {
		p.good++
	} else {
		p.good = 0
	}
	switch {
	case p.silent >= p.times.missed+p.times.hung:
		return Stopping
	case p.silent >= p.times.missed, answered && !ready:
		p.wasDegrade = true
	case p.wasDegrade && p.good >= p.times.good:
		p.wasDegrade = false
	}
	if p.wasDegrade {
		return Degraded
	}
	return Healthy
}

// retire takes a generation out of service and ends it. After a clean stop it
// drains first; stop bounds that.
func (k *keeper) retire(stop context.Context, g *generation, err error) {
	p := k.pool
	patience := p.times.shutdown
	p.close(g)
	switch {
	case err == nil, errors.Is(err, errDrained), errors.Is(err, errDisabled):
		k.enter(Draining, text(err))
		k.drain(stop, g)
		if stop.Err() != nil {
			patience = 0
		}
	case errors.Is(err, errHung):
		_ = g.child.process().Signal(unix.SIGABRT) // a Go program says where it hangs
		select {
		case <-g.done():
		case <-time.After(p.times.stack):
		}
		patience = 0
	default:
		patience = 0
	}
	k.enter(Stopping, text(err))
	if err != nil {
		p.blame(g, err)
	}
	close(g.blamed)
	g.destroy(patience)
	p.remove(g)
	k.note(g)
	k.tellEnd(g, err)
}

// tellEnd forgets a generation that has ended, and remembers why if it failed.
func (k *keeper) tellEnd(g *generation, err error) {
	ill := err != nil && !errors.Is(err, errDisabled)
	k.mu.Lock()
	k.current = nil
	if ill {
		k.lastEnd, k.endedAt = text(err), time.Now()
	}
	k.mu.Unlock()
	if !ill {
		k.log.Info("plugin stopped", g.describeExit())
		return
	}
	k.log.Error("plugin ended", "error", text(err), g.describeExit())
}

// drain tells the plugin and waits until its last program has ended. It gives
// how many were still there when patience ended.
func (k *keeper) drain(stop context.Context, g *generation) (cutOff int) {
	ctx, cancel := context.WithTimeout(stop, g.spec.DrainTimeout)
	defer cancel()
	// A text that was accepted is not to be refused by the plugin's draining.
	k.pool.idle(ctx, g, true)
	if _, err := g.client.Drain(ctx, "stop"); err != nil && ctx.Err() == nil {
		k.log.Warn("plugin did not take the word to drain", "error", err)
	}
	if k.pool.idle(ctx, g, false) {
		return 0
	}
	cutOff = k.pool.running(g)
	k.log.Warn("plugin was stopped with programs running", "inflight", cutOff)
	return cutOff
}

// quarantine keeps the plugin down until an operator releases it, or asks for
// another. What failed by crashing is tried once in a while; then trial is true.
func (k *keeper) quarantine(ctx context.Context, err error) (trial bool) {
	k.enter(Quarantined, text(err))
	k.log.Error("plugin is in quarantine", "error", text(err))
	var again <-chan time.Time
	if !errors.Is(err, errMistrust) {
		timer := time.NewTimer(k.pool.times.trial)
		defer timer.Stop()
		again = timer.C
	}
	return k.wait(ctx, again, k.release)
}

// note keeps a dead process's last words.
func (k *keeper) note(g *generation) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lastWords = g.words.String()
}

// enter changes the state and wakes who waits for one. Any state but the ones on
// the way up settles the start.
func (k *keeper) enter(s State, why string) {
	k.mu.Lock()
	if s == Starting && k.state != Stopped && k.state != Disabled { // an operator's start is no restart
		k.restarts++
	}
	if s != Starting || why != "" { // while it starts again, why it had to is still what there is to say
		k.why = why
	}
	k.state, k.since = s, time.Now()
	k.mu.Unlock()
	if s != Starting {
		k.once.Do(func() { close(k.settled) })
	}
	k.pool.wake()
}

func (k *keeper) status() PluginStatus {
	k.mu.Lock()
	s := PluginStatus{
		Name: k.pool.name, Instance: k.instance, State: k.state, Why: k.why, Since: k.since,
		Restarts: k.restarts, LastWords: k.lastWords, LastEnd: k.lastEnd, EndedAt: k.endedAt,
	}
	g := k.current
	k.mu.Unlock()
	if g != nil {
		s.Plugin, s.Version, s.PID = g.about.Name, g.about.Version, g.child.pid()
		s.Inflight, s.Walls = k.pool.running(g), g.child.process().Walls()
		s.Inner, s.Warnings = takesRequire(g.about.ConfigSchema), slices.Clone(g.warnings)
	}
	return s
}

func (k *keeper) now() State {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return clip(err.Error(), maxLogText)
}
