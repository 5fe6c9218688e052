package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluice-gateway/sluice/internal/config"
	"github.com/sluice-gateway/sluice/internal/pluginhost"
	"github.com/sluice-gateway/sluice/internal/sandbox"
)

// startPoll is how often a start that waits for a plugin looks again.
const startPoll = 20 * time.Millisecond

// keepStarting starts the plugins and puts the policy in force, and goes on
// until all languages are known: a plugin that comes up late brings its own.
// An error means that waiting will not help: every plugin is up, and the policy
// is not to be had.
func (h *house) keepStarting(ctx context.Context) error {
	told := h.comparing(ctx)
	if err := h.host.Start(ctx); err != nil {
		return unlessEnded(ctx, fmt.Errorf("start the plugins: %w", err))
	}
	if err := h.wallsStand(); err != nil {
		return err
	}
	if err := h.untilReady(ctx); err != nil || ctx.Err() != nil {
		return unlessEnded(ctx, err)
	}
	h.log.Info("ready", "policy", h.policies.revision(), "plugins", len(h.cfg.Plugins))
	close(h.up)
	proved := h.proving(ctx)
	<-told
	err := h.keepReloading(ctx)
	<-proved
	return err
}

// proving judges what of the policy's corpus was left until the start was over.
// The store tells how that went, and takes the policy out of force if it must.
// Then the start's garbage goes.
func (h *house) proving(ctx context.Context) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = h.policies.store.Load().ProveRest(ctx)
		h.collectSeldom()
	}()
	return over
}

// untilReady loads the policy whenever a further language is known, until all
// plugins are up and it is in force, or ctx ends.
func (h *house) untilReady(ctx context.Context) error {
	known := 0
	tick := time.NewTicker(startPoll)
	defer tick.Stop()
	for {
		ready, languages := h.host.Ready(), len(h.languages())
		if languages > known || (ready && h.policies.revision() == "") {
			known = languages
			if err := h.loadPolicy(ctx, false); err != nil && ready {
				return err
			}
		}
		if ready && h.ready() {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// unlessEnded is err, or nothing when ctx ended: then somebody asked for that.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// startAll is keepStarting for one program: whatever is missing is an error,
// and a policy that this binary carries is not proved again.
func (h *house) startAll(ctx context.Context) error {
	if err := h.host.Start(ctx); err != nil {
		return fmt.Errorf("start the plugins: %w", err)
	}
	if err := h.wallsStand(); err != nil {
		return err
	}
	if err := h.pluginsUp(); err != nil {
		return err
	}
	return h.loadPolicy(ctx, proved(h.policyFS()))
}

// pluginsUp says which plugin is not up, and why.
func (h *house) pluginsUp() error {
	if h.host.Ready() {
		return nil
	}
	var faults []error
	for _, s := range h.host.Status() {
		if s.State != pluginhost.Healthy && s.State != pluginhost.Degraded {
			faults = append(faults, fmt.Errorf("plugin %q did not start: %s (--log-level info tells more)", s.Name, cmp.Or(s.Why, string(s.State))))
		}
	}
	if h.cfg.File == "" {
		faults = append(faults, errors.New("no configuration file was read: name one with --config, or in "+config.FileEnv))
	}
	return errors.Join(faults...)
}

// wallsRefusal is in what a plugin says that cannot put up what is required
// around its programs: no later start of it can succeed either.
const wallsRefusal = "sandbox.require"

// wallsStand tells which walls stand around each plugin, and wants those of
// sandbox.require. A plugin that runs programs in processes of their own was
// told what is required around those, and did not start without; what stands
// around itself is the outer ring. The others evaluate in their own process and
// have no way to name a file.
func (h *house) wallsStand() error {
	for _, s := range h.host.Status() {
		if s.State == pluginhost.Quarantined && strings.Contains(s.Why, wallsRefusal) {
			return fmt.Errorf("plugin %q does not start: %s", s.Name, s.Why)
		}
		if len(s.Walls) == 0 {
			continue
		}
		stand, missing := []string{}, []string{}
		for _, w := range s.Walls {
			switch {
			case w.InForce:
				stand = append(stand, w.Name)
			case w.Why != "":
				missing = append(missing, w.Name+": "+w.Why)
			}
		}
		h.log.Info("walls around the plugin", "plugin", s.Name, "stand", stand, "missing", missing)
		wanted := slices.DeleteFunc(slices.Clone(h.cfg.Sandbox.Require), func(name string) bool {
			return name == "files" || (s.Inner && name != "clean-start" && name != "rlimits")
		})
		if err := sandbox.Require(s.Walls, wanted...); err != nil {
			return fmt.Errorf("plugin %q: sandbox.require: %w", s.Name, err)
		}
	}
	return nil
}
