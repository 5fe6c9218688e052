package main

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/sluice-gateway/sluice/internal/auth"
	"github.com/sluice-gateway/sluice/internal/config"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// reloaders are the parts that SIGHUP reads again, in the order in which they
// are put in force.
func (a *app) reloaders(h *house, level *slog.LevelVar, tokens *standingTokens) []reloader {
	return []reloader{logReloader(level), h.drainReloader(), a.tokenReloader(tokens, h.log), h.policyReloader()}
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

// standingTokens are the tokens in force.
type standingTokens struct {
	current atomic.Pointer[auth.Authenticator]
}

// Authenticate implements rest.Authenticator.
func (s *standingTokens) Authenticate(r *http.Request) (gateway.Caller, error) {
	return s.current.Load().Authenticate(r)
}

func (a *app) tokenReloader(tokens *standingTokens, log *slog.Logger) reloader {
	return reloader{name: "tokens", keys: []string{"auth.token_file"}, prepare: func(_ context.Context, next *config.Loaded) (func(), string, error) {
		fresh, err := a.authenticator(next, log)
		if err != nil {
			return nil, "", err
		}
		return func() { tokens.current.Store(fresh) }, "", nil
	}}
}
