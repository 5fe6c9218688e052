package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sluice-gateway/sluice/internal/auth"
	"github.com/sluice-gateway/sluice/internal/config"
)

// tokenKeeper holds the tokens in force, and reads their files again.
type tokenKeeper struct {
	getenv func(string) string
	log    *slog.Logger
	auth   *auth.Authenticator

	mu      sync.Mutex
	cfg     config.Auth
	inForce []auth.Token // by their digests
}

// floodPause is how long a caller waits who has sent too many wrong tokens.
const floodPause = time.Second

// newTokenKeeper reads the tokens; it is an error when there is none.
func newTokenKeeper(cfg *config.Loaded, getenv func(string) string, log *slog.Logger) (*tokenKeeper, error) {
	k := &tokenKeeper{cfg: cfg.Auth, getenv: getenv, log: log}
	var err error
	if k.inForce, err = k.read(cfg.Auth); err != nil {
		return nil, fmt.Errorf("serve does not start without a token: %w", err)
	}
	if len(k.inForce) == 0 {
		return nil, fmt.Errorf("serve does not start without a token: %w; or make a named one: 'gateway token new NAME'", auth.ErrNoToken)
	}
	guard, err := k.guard()
	if err != nil {
		return nil, err
	}
	if k.auth, err = auth.NewWith(k.inForce, auth.Options{Guard: guard}); err != nil {
		return nil, fmt.Errorf("serve does not start without a token: %w", err)
	}
	return k, nil
}

func (k *tokenKeeper) guard() (*auth.Guard, error) {
	proxies, err := auth.Proxies(k.cfg.TrustedProxies)
	if err != nil {
		return nil, fmt.Errorf("auth.trusted_proxies: %w", err)
	}
	if k.cfg.FailedPerMinute == 0 {
		k.log.Warn("wrong tokens are not limited (auth.failed_per_minute: 0)")
		return nil, nil
	}
	return auth.NewGuard(auth.GuardConfig{PerMinute: k.cfg.FailedPerMinute, Proxies: proxies, Log: k.log, Pause: floodPause})
}

// read gathers the operator's token, which is allowed everything, and the named
// ones.
func (k *tokenKeeper) read(cfg config.Auth) (tokens []auth.Token, err error) {
	token, err := auth.LoadToken(k.getenv, cfg.TokenFile)
	switch {
	case errors.Is(err, auth.ErrNoToken) && cfg.Tokens != "":
	case err != nil:
		return nil, err
	default:
		if len(token) < auth.ShortToken {
			k.log.Warn("the token is short: use 16 random characters or more", "characters", len(token))
		}
		tokens = append(tokens, auth.Token{Name: auth.DefaultName, SHA256: auth.DigestOf(token), Scopes: []string{auth.AllScopes}})
	}
	if cfg.Tokens == "" {
		return tokens, nil
	}
	named, err := auth.ReadFile(cfg.Tokens)
	if err != nil {
		return nil, fmt.Errorf("auth.tokens: %w", err)
	}
	return append(tokens, named...), nil
}

// reloader reads the tokens again at SIGHUP.
func (k *tokenKeeper) reloader() reloader {
	return reloader{name: "tokens", keys: []string{"auth.token_file", "auth.tokens"}, prepare: func(_ context.Context, next *config.Loaded) (func(), string, error) {
		commit, what, err := k.prepare(next.Auth)
		if err != nil {
			return nil, "", err
		}
		return func() {
			commit()
			k.mu.Lock()
			defer k.mu.Unlock()
			k.cfg = next.Auth
		}, what, nil
	}}
}

// prepare reads the tokens again. commit puts them in force and cannot fail; what
// says what changes then, empty for nothing. An error leaves all as it was.
func (k *tokenKeeper) prepare(cfg config.Auth) (commit func(), what string, err error) {
	tokens, err := k.read(cfg)
	if err != nil {
		return nil, "", err
	}
	put, err := k.auth.Prepare(tokens)
	if err != nil {
		return nil, "", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return func() {
		put()
		k.mu.Lock()
		defer k.mu.Unlock()
		k.inForce = tokens
	}, tokenChanges(k.inForce, tokens), nil
}

// tokenChanges tells by names which tokens come, go and change; empty: none.
func tokenChanges(before, after []auth.Token) string {
	var told []string
	tell := func(word string, names []string) {
		if len(names) > 0 {
			told = append(told, word+" "+strings.Join(names, ", "))
		}
	}
	tell("gone:", missing(before, after))
	tell("new:", missing(after, before))
	var changed []string
	for _, now := range after {
		if at := slices.IndexFunc(before, hasName(now.Name)); at >= 0 && !reflect.DeepEqual(before[at], now) {
			changed = append(changed, now.Name)
		}
	}
	tell("changed:", changed)
	return strings.Join(told, "; ")
}

func hasName(name string) func(auth.Token) bool {
	return func(t auth.Token) bool { return t.Name == name }
}

// missing are the names of those of list that the other does not have.
func missing(list, other []auth.Token) (names []string) {
	for _, t := range list {
		if !slices.ContainsFunc(other, hasName(t.Name)) {
			names = append(names, t.Name)
		}
	}
	return names
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// tokensPoll is how often the files are looked at; a change is taken once it has
// stayed for that long.
const tokensPoll = time.Second

// watch puts changed files of tokens in force until ctx ends. Files that are not
// right, or gone, leave the tokens before them in force.
func (k *tokenKeeper) watch(ctx context.Context) {
	ticker := time.NewTicker(tokensPoll)
	defer ticker.Stop()
	loaded := k.stamp()
	before := loaded
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := k.stamp()
		if now == loaded || now != before {
			before = now
			continue
		}
		loaded = now
		k.reload()
	}
}

func (k *tokenKeeper) reload() {
	commit, what, err := k.prepare(k.config())
	switch {
	case err != nil:
		k.log.Error("THE TOKENS STAY AS THEY WERE: their file is not right", "error", err)
	case what != "":
		commit()
		k.log.Info("the tokens have changed", "tokens", what)
	}
}

func (k *tokenKeeper) config() config.Auth {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.cfg
}

// stamp changes when a file of tokens does, or when another takes its place.
func (k *tokenKeeper) stamp() string {
	cfg := k.config()
	var all strings.Builder
	for _, path := range []string{cfg.Tokens, cfg.TokenFile, k.getenv(auth.TokenFileVariable)} {
		if path == "" {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			fmt.Fprintln(&all, path, err)
			continue
		}
		fmt.Fprintln(&all, path, info.Size(), info.ModTime().UnixNano(), info.Mode())
		if file, ok := info.Sys().(*syscall.Stat_t); ok {
			fmt.Fprintln(&all, file.Ino)
		}
	}
	return all.String()
}
