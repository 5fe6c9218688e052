package main

import (
	"context"
	"errors"

	"github.com/sluice-gateway/sluice/internal/policy"
)

// watches says whether a changed policy folder is put in force by itself.
func (h *house) watches() bool { return h.cfg.Policy.Reload && h.cfg.Policy.Dir != "" }

// keepReloading puts a changed policy folder in force until ctx ends, when
// policy.reload is set and the folder has changed and come to rest. A policy
// that fails its checks leaves the one before it in force; the store tells that.
func (h *house) keepReloading(ctx context.Context) error {
	var changed <-chan struct{}
	if h.watches() {
		var err error
		if changed, err = policy.Watch(ctx, h.cfg.Policy.Dir, h.log); err != nil {
			h.log.Error("the policy folder is not watched: SIGHUP and POST /admin/policy/reload load it again", "error", err)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-h.compare:
			h.tellUpstream(ctx)
		case <-changed:
			if h.policies.store.Load().Changed() {
				_ = h.reloadPolicy(ctx) // the store has told why
			}
		}
	}
}

// errStarting is the answer to a reload before there is anything to keep.
var errStarting = errors.New("the gateway is starting: no policy was loaded yet")

// reloadPolicy puts the folder in force, or keeps what is.
func (h *house) reloadPolicy(ctx context.Context) error {
	store := h.policies.store.Load()
	if store == nil {
		return errStarting
	}
	commit, _, err := h.preparePolicy(ctx, store)
	if err == nil {
		commit()
	}
	return err
}

// preparePolicy proves the folder; commit puts it in force.
func (h *house) preparePolicy(ctx context.Context, store *policy.Store) (commit func(), what string, err error) {
	put, what, err := store.Prepare(ctx)
	if err != nil {
		return nil, "", err
	}
	return func() {
		put()
		h.log.Info("policy was loaded again", "policy", h.policies.revision())
		select {
		case h.compare <- struct{}{}:
		default: // it is asked for already
		}
	}, what, nil
}
