package pluginhost

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// Errors of what operators ask for.
var (
	ErrUnknown     = errors.New("no plugin of that name is configured")
	ErrNothingToDo = errors.New("there is nothing to do")

	errDisabled = errors.New("plugin was disabled")
)

// Swap is what became of one process of a plugin when it was exchanged.
type Swap struct {
	Instance     int           `json:"instance"`
	OldPID       int           `json:"old_pid"` // 0: there was none
	NewPID       int           `json:"new_pid"`
	OldVersion   string        `json:"old_version,omitempty"`
	NewVersion   string        `json:"new_version"`
	Drained      bool          `json:"drained"`       // every program of the old process ended by itself
	CutOff       int           `json:"cut_off"`       // programs that were ended when its time to drain was over
	SessionsLost int           `json:"sessions_lost"` // that the old process held
	Took         time.Duration `json:"took_ns"`       // until the old process was gone
}

// order is what an operator asks of a keeper. It is answered once.
type order struct {
	stop bool    // else: start, or exchange
	spec *Plugin // by which to start; nil: as before
	done chan ordered
}

type ordered struct {
	swap Swap
	err  error
}

func newOrder(stop bool, spec *Plugin) *order {
	return &order{stop: stop, spec: spec, done: make(chan ordered, 1)}
}

// give hands an order to a keeper and waits for what became of it.
func (k *keeper) give(ctx context.Context, o *order) (Swap, error) {
	begin := time.Now()
	select {
	case k.orders <- o:
	case <-k.over:
		return Swap{}, errors.New("the gateway stops")
	case <-ctx.Done():
		return Swap{}, ctx.Err()
	}
	select {
	case d := <-o.done:
		d.swap.Instance, d.swap.Took = k.instance, time.Since(begin)
		return d.swap, d.err
	case <-k.over:
		return Swap{}, errors.New("the gateway stops")
	case <-ctx.Done():
		return Swap{}, ctx.Err()
	}
}

// answer tells who asked for the start at hand, if somebody did.
func (k *keeper) answer(s Swap, err error) {
	if k.asked != nil {
		k.asked.done <- ordered{s, err}
		k.asked = nil
	}
}

// wait holds a plugin that is down until it is time, it is released, or a start
// is asked for. It tells whether it was time.
func (k *keeper) wait(ctx context.Context, timer <-chan time.Time, release <-chan struct{}) (intime bool) {
	select {
	case <-ctx.Done():
	case <-timer:
		return true
	case <-release:
	case o := <-k.orders:
		if !o.stop {
			k.asked = o
			return false
		}
		o.done <- ordered{}
		k.rest(ctx)
	}
	return false
}

// rest keeps a disabled plugin down until a start is asked for.
func (k *keeper) rest(ctx context.Context) {
	k.enter(Disabled, "")
	for {
		select {
		case <-ctx.Done():
			return
		case o := <-k.orders:
			if !o.stop {
				k.asked = o
				return
			}
			o.done <- ordered{err: ErrNothingToDo}
		}
	}
}

func (k *keeper) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	k.wait(ctx, timer.C, nil)
}

// exchange is a successor on its way up while a process serves.
type exchange struct {
	keeper *keeper
	old    *generation
	order  *order
	made   chan launched // nil: none is on its way
	cancel context.CancelFunc
}

type launched struct {
	gen *generation
	err error
}

// take carries out an order to a process that serves.
func (x *exchange) take(ctx context.Context, o *order) error {
	switch {
	case o.stop:
		o.done <- ordered{}
		return errDisabled
	case x.made != nil:
		o.done <- ordered{err: fmt.Errorf("%w: it is being exchanged already", ErrNothingToDo)}
		return nil
	}
	spec := *x.keeper.pool.spec.Load()
	if o.spec != nil {
		spec = *o.spec
	}
	ctx, x.cancel = context.WithCancel(ctx)
	x.order, x.made = o, make(chan launched, 1)
	made := x.made
	go func() {
		g, err := x.keeper.launch(ctx, spec, true)
		made <- launched{g, err}
	}()
	return nil
}

// finish puts a successor that is healthy into service and ends the process
// before it beside that. Without one, all stays as it is.
func (x *exchange) finish(stop context.Context, made launched) *generation {
	k, o := x.keeper, x.order
	x.made, x.order = nil, nil
	defer x.cancel()
	if made.err == nil {
		if made.err = k.pool.publish(made.gen); made.err != nil {
			made.gen.destroy(k.pool.times.shutdown)
		}
	}
	if made.err != nil {
		k.log.Error("the plugin's successor did not start; the process before it serves on", "error", text(made.err))
		o.done <- ordered{err: made.err}
		return nil
	}
	k.pool.close(x.old)
	k.pool.wake()
	s := Swap{
		OldPID: x.old.child.pid(), NewPID: made.gen.child.pid(), OldVersion: x.old.about.Version, NewVersion: made.gen.about.Version,
		SessionsLost: k.pool.held(x.old),
	}
	k.retiring.Go(func() {
		s.CutOff = k.replaced(stop, x.old)
		s.Drained = s.CutOff == 0
		o.done <- ordered{swap: s}
	})
	return made.gen
}

// abandon ends what is on its way when the process has ended for another
// reason. A successor that came up all the same takes over when the process
// failed.
func (x *exchange) abandon(next *generation, why error) *generation {
	if x.made == nil {
		return next
	}
	defer x.cancel()
	wanted := why != nil && !errors.Is(why, errDisabled)
	if !wanted {
		x.cancel()
	}
	made := <-x.made
	k, o := x.keeper, x.order
	if made.err == nil && !wanted {
		made.err = errDisabled
		made.gen.destroy(0)
	}
	if made.err == nil {
		if made.err = k.pool.publish(made.gen); made.err != nil {
			made.gen.destroy(0)
		}
	}
	if made.err != nil {
		o.done <- ordered{err: made.err}
		return nil
	}
	o.done <- ordered{swap: Swap{
		OldPID: x.old.child.pid(), NewPID: made.gen.child.pid(), OldVersion: x.old.about.Version, NewVersion: made.gen.about.Version,
		CutOff: k.pool.running(x.old), SessionsLost: k.pool.held(x.old),
	}}
	return made.gen
}

// replaced drains and ends a process that another has taken over from.
func (k *keeper) replaced(stop context.Context, g *generation) (cutOff int) {
	cutOff = k.drain(stop, g)
	patience := k.pool.times.shutdown
	if stop.Err() != nil {
		patience = 0
	}
	close(g.blamed)
	g.destroy(patience)
	k.pool.remove(g)
	k.note(g)
	k.log.Info("plugin was exchanged", "old_pid", g.child.pid(), "cut_off", cutOff, g.describeExit())
	return cutOff
}

// held counts a process's sessions.
func (p *pool) held(g *generation) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return g.sessions
}

// Reload exchanges a plugin's processes for new ones, started by spec: each is
// brought up and looked at deep, takes over, and the one before it is drained
// and ended. A plugin that is down is started. When a new process does not come
// up, the one before it serves on, and nothing has changed.
func (h *Host) Reload(ctx context.Context, spec Plugin) ([]Swap, error) {
	p := h.pool(spec.Name)
	if p == nil {
		return nil, fmt.Errorf("reload plugin %q: %w", spec.Name, ErrUnknown)
	}
	return h.begin(ctx, p, spec, "reload")
}

// Enable starts a plugin that is disabled or was not there yet.
func (h *Host) Enable(ctx context.Context, spec Plugin) ([]Swap, error) {
	p := h.pool(spec.Name)
	if p == nil {
		var err error
		if p, err = h.join(spec); err != nil {
			return nil, fmt.Errorf("enable plugin %q: %w", spec.Name, err)
		}
	}
	if s := p.state(); s != Disabled && s != Stopped {
		return nil, fmt.Errorf("enable plugin %q: %w: it is %s", spec.Name, ErrNothingToDo, s)
	}
	return h.begin(ctx, p, spec, "enable")
}

// begin gives every process of a plugin the order to start, one after another.
func (h *Host) begin(ctx context.Context, p *pool, spec Plugin, verb string) (swaps []Swap, err error) {
	if err := spec.check(); err != nil {
		return nil, fmt.Errorf("%s plugin %q: %w", verb, spec.Name, err)
	}
	spec = spec.withDefaults()
	if spec.Instances != len(p.keepers) {
		return nil, fmt.Errorf("%s plugin %q: it has %d processes; another number (instances: %d) needs a restart of the gateway",
			verb, spec.Name, len(p.keepers), spec.Instances)
	}
	for _, k := range p.keepers {
		s, err := k.give(ctx, newOrder(false, &spec))
		if err != nil {
			return swaps, fmt.Errorf("%s plugin %q: %w", verb, spec.Name, err)
		}
		swaps = append(swaps, s)
	}
	p.off.Store(false)
	return swaps, nil
}

// join takes in a plugin that was not configured at the start. It rests.
func (h *Host) join(spec Plugin) (*pool, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	spec.Disabled = true
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run == nil || h.run.Err() != nil {
		return nil, errors.New("the gateway is starting, or stopping")
	}
	p := newPool(h, spec, h.times)
	h.pools = append(h.pools, p)
	for _, k := range p.keepers {
		h.running.Go(func() { k.run(h.run, h.patience) })
	}
	return p, nil
}

// Disable drains and ends a plugin's processes and keeps it down until Enable.
func (h *Host) Disable(ctx context.Context, name string) error {
	p := h.pool(name)
	if p == nil {
		return fmt.Errorf("disable plugin %q: %w", name, ErrUnknown)
	}
	p.off.Store(true)
	for _, k := range p.keepers {
		if _, err := k.give(ctx, newOrder(true, nil)); err != nil {
			return fmt.Errorf("disable plugin %q: %w", name, err)
		}
	}
	for _, k := range p.keepers {
		if err := k.until(ctx, Disabled); err != nil {
			return fmt.Errorf("disable plugin %q: %w", name, err)
		}
	}
	return nil
}

// until waits for a state.
func (k *keeper) until(ctx context.Context, want State) error {
	for {
		k.pool.mu.Lock()
		changed := k.pool.changed
		k.pool.mu.Unlock()
		if k.now() == want {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// DescriptionDigest is the SHA-256, in hex, of what a plugin says of itself, its
// samples and its build apart. Plugin.Description pins it.
func DescriptionDigest(d executor.Description) string {
	d.Build = ""
	d.Languages = append([]executor.Language(nil), d.Languages...)
	for i := range d.Languages {
		d.Languages[i].Samples = nil
		if len(d.Languages[i].Lacks) == 0 {
			d.Languages[i].Lacks = nil
		}
	}
	text, err := json.Marshal(d)
	if err != nil { // there is nothing in it that JSON cannot hold
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// recorded holds a description against the digest that the configuration has.
func (g *generation) recorded() error {
	if g.spec.Description == "" {
		return nil
	}
	if got := DescriptionDigest(g.about); got != g.spec.Description {
		return fmt.Errorf("%w: its description has the digest %s, and %s is recorded", errMistrust, got, g.spec.Description)
	}
	return nil
}

// About gives what a plugin said of itself last; false: it was not up yet, or
// there is none of that name.
func (h *Host) About(name string) (executor.Description, bool) {
	p := h.pool(name)
	if p == nil {
		return executor.Description{}, false
	}
	about := p.about.Load()
	if about == nil {
		return executor.Description{}, false
	}
	return *about, true
}

// Log gives the last of what a plugin's processes wrote on their standard error:
// of each the one that ended last, then the one that runs. It may hold parts of
// programs and is for operators alone.
func (h *Host) Log(name string) (string, error) {
	p := h.pool(name)
	if p == nil {
		return "", fmt.Errorf("read the log of plugin %q: %w", name, ErrUnknown)
	}
	var all string
	for _, k := range p.keepers {
		k.mu.Lock()
		all += k.lastWords
		if k.current != nil {
			all += k.current.words.String()
		}
		k.mu.Unlock()
	}
	return all, nil
}
