package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"time"
)

// reloadPoll is how often a policy folder is looked at. Looking, instead of
// being told, works on every file system and on folders that are replaced whole.
const reloadPoll = 2 * time.Second

// keepReloading puts a changed policy folder in force until ctx ends, when
// policy.reload is set and the folder has changed and come to rest. A policy
// that fails its checks leaves the one before it in force; the store tells that.
func (h *house) keepReloading(ctx context.Context) error {
	if !h.cfg.Policy.Reload || h.cfg.Policy.Dir == "" {
		<-ctx.Done()
		return nil
	}
	ticker := time.NewTicker(reloadPoll)
	defer ticker.Stop()
	loaded := fingerprint(h.policyFS())
	before := loaded
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		now := fingerprint(h.policyFS())
		if now == loaded || now != before {
			before = now
			continue
		}
		loaded, before = now, now
		if err := h.policies.store.Load().Reload(ctx); err == nil {
			h.log.Info("policy was loaded again", "policy", h.policies.revision())
			h.tellUpstream(ctx)
		}
	}
}

// fingerprint changes when a file of the folder does: its name, size or time.
func fingerprint(folder fs.FS) [sha256.Size]byte {
	sum := sha256.New()
	err := fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(sum, path, info.Size(), info.ModTime().UnixNano(), info.Mode())
		return nil
	})
	if err != nil {
		fmt.Fprintln(sum, err)
	}
	return [sha256.Size]byte(sum.Sum(nil))
}
