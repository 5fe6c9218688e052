package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/sluice-gateway/sluice/internal/config"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// reloaders are the parts that SIGHUP reads again, in the order in which they
// are put in force.
func (a *app) reloaders(h *house, level *slog.LevelVar, tokens *tokenKeeper) []reloader {
	return []reloader{logReloader(level), h.drainReloader(), h.limitsReloader(), tokens.reloader(), h.policyReloader()}
}

func logReloader(level *slog.LevelVar) reloader {
	return reloader{name: "log", keys: []string{"log.level"}, prepare: func(_ context.Context, next *config.Loaded) (func(), string, error) {
		return func() { level.Set(levelOf(next.Log)) }, "", nil
	}}
}

func (h *house) drainReloader() reloader {
	return reloader{name: "drain", keys: []string{"drain"}, prepare: func(_ context.Context, next *config.Loaded) (func(), string, error) {
		return func() { h.drain.Store(int64(next.Drain)) }, "", nil
	}}
}

// limitsReloader has what holds for one program; what sizes the gateway itself
// (slots, queue, memory, connections, sessions) needs a restart.
func (h *house) limitsReloader() reloader {
	keys := []string{
		"limits.wall", "limits.tool_wall", "limits.cpu", "limits.stdout_bytes", "limits.stderr_bytes", "limits.output_ceiling_bytes",
		"limits.plotly_bytes", "limits.threads", "policy.profiles.",
	}
	return reloader{name: "limits", keys: keys, prepare: func(_ context.Context, next *config.Loaded) (func(), string, error) {
		limits := gatewayLimits(next.Limits, 1)
		return func() {
			h.gateway.Change(gateway.Settings{Default: limits.Default, ToolWall: limits.ToolWall, Profiles: profiles(next.Policy.Profiles)})
		}, "", nil
	}}
}

func (h *house) policyReloader() reloader {
	return reloader{name: "policy", prepare: func(ctx context.Context, _ *config.Loaded) (func(), string, error) {
		store := h.policies.store.Load()
		if store == nil {
			return func() {}, "", nil // the start is about to load it
		}
		return h.preparePolicy(ctx, store)
	}}
}

// drainTime is how long a stop waits for running requests.
func (h *house) drainTime() time.Duration { return time.Duration(h.drain.Load()) }
