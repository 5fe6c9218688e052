package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/sandbox"
)

// Host runs plugins. It implements gateway.Executors. Its methods may be called
// from several goroutines; Start once, then Close, which may be repeated.
type Host struct {
	cfg       Config
	offer     sandbox.Offer
	home      *home
	times     timing
	directory *directory

	mu    sync.Mutex // of pools, which grows
	pools []*pool

	run, patience context.Context    // of keepers; nil before Start
	stopKeepers   context.CancelFunc // drain and stop
	cutShort      context.CancelFunc // stop waiting
	running       sync.WaitGroup
	closing       sync.Once
	closed        error
}

var _ gateway.Executors = (*Host)(nil)

// New checks cfg and makes the Host's directory, sweeping what killed gateways
// left there. The calling program's main must have called [sandbox.Shim]. A Host
// that was made must be closed.
func New(cfg Config) (*Host, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if cfg.LookupEnv == nil {
		cfg.LookupEnv = func(string) (string, bool) { return "", false }
	}
	if cfg.LogLevel == "" {
		cfg.LogLevel = "info"
	}
	times := contractTiming()
	if cfg.timing != nil {
		times = *cfg.timing
	}
	home, err := openHome(cfg.StateRoot)
	if err != nil {
		return nil, err
	}
	h := &Host{cfg: cfg, offer: sandbox.Probe(), home: home, times: times, directory: newDirectory(cfg.Plugins)}
	for _, p := range cfg.Plugins {
		h.pools = append(h.pools, newPool(h, p, times))
	}
	return h, nil
}

// Start starts all plugins at once and returns when each has been healthy or has
// failed once; those that failed are restarted in the background. An error means
// that the plugins do not go together (two claim one tool) or that ctx ended.
func (h *Host) Start(ctx context.Context) error {
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	patience, cut := context.WithCancel(context.WithoutCancel(ctx))
	h.stopKeepers, h.cutShort = stop, cut
	h.mu.Lock()
	h.run, h.patience = run, patience
	h.mu.Unlock()
	for _, k := range h.keepers() {
		h.running.Go(func() { k.run(run, patience) })
	}
	for _, k := range h.keepers() {
		select {
		case <-k.settled:
		case <-ctx.Done():
			return fmt.Errorf("start plugins: %w", ctx.Err())
		}
	}
	return h.clash()
}

// clash finds plugins that were refused since another has their tool.
func (h *Host) clash() error {
	var faults []error
	for _, p := range h.all() {
		if err := p.clashed(); err != nil {
			faults = append(faults, fmt.Errorf("start plugin %q: %w", p.name, err))
		}
	}
	return errors.Join(faults...)
}

// Close drains and stops every plugin. When ctx ends it stops waiting for
// programs that run. It returns when no process, socket or directory is left.
func (h *Host) Close(ctx context.Context) error {
	if h.stopKeepers != nil {
		h.mu.Lock() // none joins any more
		h.stopKeepers()
		h.mu.Unlock()
		unhook := context.AfterFunc(ctx, h.cutShort)
		h.running.Wait()
		unhook()
		h.cutShort()
	}
	h.closing.Do(func() { h.closed = h.home.close() })
	return h.closed
}

// Ready reports whether every plugin has a process that takes work.
func (h *Host) Ready() bool {
	for _, p := range h.all() {
		if s := p.state(); s != Healthy && s != Degraded && s != Disabled {
			return false
		}
	}
	return true
}

// Status tells of every process, in the order of the configuration.
func (h *Host) Status() []PluginStatus {
	var all []PluginStatus
	for _, k := range h.keepers() {
		all = append(all, k.status())
	}
	return all
}

// Release lets a plugin's processes out of quarantine.
func (h *Host) Release(name string) error {
	p := h.pool(name)
	if p == nil {
		return fmt.Errorf("release plugin %q: %w", name, ErrUnknown)
	}
	held := false
	for _, k := range p.keepers {
		if k.now() == Quarantined {
			held = true
			select {
			case k.release <- struct{}{}:
			default:
			}
		}
	}
	if !held {
		return fmt.Errorf("release plugin %q: %w: it is %s", name, ErrNothingToDo, p.state())
	}
	return nil
}

// Find implements gateway.Executors. Names are compared trimmed, in lower case,
// and with "-" as "_". A tool of a plugin that has not been up yet is
// ErrPluginDown.
func (h *Host) Find(tool string) (gateway.Target, error) {
	t, err := h.directory.find(tool)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Targets implements gateway.Executors.
func (h *Host) Targets() []gateway.Target { return h.directory.targets() }

// all lists the pools there are now.
func (h *Host) all() []*pool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.pools)
}

func (h *Host) pool(name string) *pool {
	for _, p := range h.all() {
		if p.name == name {
			return p
		}
	}
	return nil
}

func (h *Host) keepers() []*keeper {
	var all []*keeper
	for _, p := range h.all() {
		all = append(all, p.keepers...)
	}
	return all
}
