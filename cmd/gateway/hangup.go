package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/sluice-gateway/sluice/internal/config"
	"github.com/sluice-gateway/sluice/internal/listener"
)

// reloader is one of the parts that SIGHUP reads again. They are all put in
// force, or none of them.
type reloader struct {
	name string
	// keys are the keys of the configuration that it puts in force; one that
	// ends in a dot means all below it. A changed key that no reloader has
	// needs a restart.
	keys []string
	// prepare reads and checks everything and changes nothing. commit puts that
	// in force and cannot go wrong; what tells the change in a few words, and is
	// empty when there is none. No error and no change may hold a secret.
	prepare func(ctx context.Context, next *config.Loaded) (commit func(), what string, err error)
}

func (r reloader) has(key string) bool {
	return slices.ContainsFunc(r.keys, func(mine string) bool {
		return key == mine || (strings.HasSuffix(mine, ".") && strings.HasPrefix(key, mine))
	})
}

// hangups is what happens at each SIGHUP.
type hangups struct {
	log     *slog.Logger
	load    func() (*config.Loaded, error) // the configuration, as at the start
	inForce *config.Loaded
	plugins *pluginsInForce
	parts   []reloader
	manager *listener.Manager
	up      <-chan struct{} // closed when the start is over
}

// keep reloads at each signal until ctx ends.
func (u *hangups) keep(ctx context.Context, signals <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
			u.once(ctx)
		}
	}
}

// once reads everything again, puts it in force or leaves all as it was, and
// tells which.
func (u *hangups) once(ctx context.Context) {
	u.log.Info("asked to reload (SIGHUP)")
	defer u.tellManager()()
	changed, err := u.reload(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		u.log.Error("NOTHING WAS RELOADED: everything stays as it was", "error", err)
	case len(changed) == 0:
		u.log.Info("reloaded; nothing has changed")
	default:
		u.log.Info("reloaded", "changed", changed)
	}
}

// tellManager tells the service manager of a reload, and the function that it
// returns of its end; during the start neither is told.
func (u *hangups) tellManager() (ended func()) {
	select {
	case <-u.up:
		u.manager.Reloading()
		return func() { u.manager.Ready("reloaded, or as it was: the log says which") }
	default:
		return func() {}
	}
}

// changes tells which keys have changed; the error, which of them a SIGHUP does not put
// in force.
func (u *hangups) changes(next *config.Loaded) (changed []string, err error) {
	for _, c := range u.inForce.Changes(next) {
		if u.plugins.has(c.Path, next) {
			continue
		}
		if !slices.ContainsFunc(u.parts, func(r reloader) bool { return r.has(c.Path) }) {
			err = errors.Join(err, fmt.Errorf("%s: %s", c, remedyForKey(c.Path)))
		}
		changed = append(changed, c.String())
	}
	return changed, err
}

func (u *hangups) reload(ctx context.Context) (changed []string, err error) {
	next, err := u.load()
	if err != nil {
		return nil, err
	}
	if changed, err = u.changes(next); err != nil {
		return nil, err
	}
	var commits []func()
	for _, part := range u.parts {
		commit, what, fault := part.prepare(ctx, next)
		if fault != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", part.name, fault))
			continue
		}
		commits = append(commits, commit)
		if what != "" {
			changed = append(changed, part.name+": "+what)
		}
	}
	if err != nil || ctx.Err() != nil {
		return nil, err
	}
	for _, commit := range commits {
		commit()
	}
	for _, w := range next.Warnings {
		u.log.Warn("configuration: " + w)
	}
	u.inForce = next
	return changed, nil
}
