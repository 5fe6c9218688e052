package main

import (
	"io"
	"log/slog"

	"github.com/sluice-gateway/sluice/internal/audit"
	"github.com/sluice-gateway/sluice/internal/config"
)

// auditConfig is the decision log as the configuration wants it.
func auditConfig(c config.Audit, stdout io.Writer, log *slog.Logger, policies *standing) audit.Config {
	return audit.Config{
		File: c.File, Stdout: stdout, Log: log, Labels: map[string]string{"app": "sluice", "version": version},
		Mask: policies.mask, Masks: policies.masks,
		RotateBytes: int64(c.RotateSize), RotateEvery: c.RotateEvery, KeepFiles: c.KeepFiles, KeepFor: c.KeepFor,
	}
}

// mask hides in the decision log what the policy in force says.
func (s *standing) mask(event map[string]any) error {
	if store := s.store.Load(); store != nil {
		return store.Mask(event)
	}
	return nil
}

// masks says whether the policy in force hides anything there.
func (s *standing) masks() bool {
	store := s.store.Load()
	return store != nil && store.Masks()
}
