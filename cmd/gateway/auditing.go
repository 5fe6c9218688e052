package main

import (
	"io"
	"log/slog"

	"github.com/sluice-gateway/sluice/internal/audit"
	"github.com/sluice-gateway/sluice/internal/config"
)

// auditConfig is the decision log as the configuration wants it.
func auditConfig(c config.Audit, stdout io.Writer, log *slog.Logger) audit.Config {
	return audit.Config{
		File: c.File, Stdout: stdout, Log: log, Labels: map[string]string{"app": "sluice", "version": version},
		RotateBytes: int64(c.RotateSize), RotateEvery: c.RotateEvery, KeepFiles: c.KeepFiles, KeepFor: c.KeepFor,
	}
}
