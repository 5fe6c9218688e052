package main

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/sluice-gateway/sluice/internal/upstream"
	"github.com/sluice-gateway/sluice/policies"
)

// comparing does tellUpstream while the plugins come up, and says when it is
// done.
func (h *house) comparing(ctx context.Context) <-chan struct{} {
	told := make(chan struct{})
	go func() {
		defer close(told)
		h.tellUpstream(ctx)
	}()
	return told
}

// tellUpstream warns when the policy in force is looser than the sources that
// it is pinned to, or not to be compared with them. It stays in force: the pin
// is for those who change policies, and CI holds them to it.
func (h *house) tellUpstream(ctx context.Context) {
	report, err := upstream.Check(ctx, upstream.Config{Folder: h.policyFS(), Now: time.Now()})
	switch {
	case ctx.Err() != nil:
		return
	case errors.Is(err, fs.ErrNotExist):
		h.log.Info("the policy is pinned to no upstream", "policy", h.policyName())
		return
	case err != nil:
		h.log.Warn("the policy cannot be compared with its upstream", "error", err)
		return
	}
	for _, f := range report.Looser() {
		h.log.Warn("THE POLICY IS LOOSER THAN ITS UPSTREAM: "+f.Message,
			"upstream", f.Upstream, "profile", f.Profile, "list", f.List, "entry", f.Entry, "rule", f.Rule)
	}
	for _, f := range report.Findings {
		if f.Level == upstream.LevelError && f.Kind != upstream.KindLooser {
			h.log.Warn("the policy and its pin do not agree: "+f.Message, "upstream", f.Upstream, "kind", f.Kind)
		}
	}
}

// pins is what the policy in this binary follows.
func pins() []upstream.PinState {
	pin, err := upstream.Pins(policies.FS())
	if err != nil {
		return []upstream.PinState{}
	}
	return pin.States()
}
