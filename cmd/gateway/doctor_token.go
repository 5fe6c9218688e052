package main

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/sluice-gateway/sluice/internal/auth"
	"github.com/sluice-gateway/sluice/internal/config"
)

// lookForToken says what keeps serve from starting for want of a token, and
// whether `make run`, which mints one, would start; empty: nothing does.
func (a *app) lookForToken(cfg *config.Loaded) string {
	quiet := slog.New(slog.DiscardHandler)
	tokens, err := (&tokenKeeper{cfg: cfg.Auth, getenv: a.getenv, log: quiet}).read(cfg.Auth)
	if err == nil && len(tokens) == 0 {
		err = auth.ErrNoToken
	}
	if err == nil {
		return ""
	}
	note := "serve would not start: " + err.Error()
	if !errors.Is(err, auth.ErrNoToken) {
		return note
	}
	folder := a.dir
	if cfg.File != "" {
		folder = filepath.Dir(cfg.File)
	}
	if _, err := os.Stat(filepath.Join(folder, "scripts", "run.sh")); err != nil {
		return note
	}
	return note + "; " + whatMakeRunFinds(filepath.Join(folder, ".token"))
}

// whatMakeRunFinds follows scripts/run.sh: an empty file is no token, and one
// that is not there is made.
func whatMakeRunFinds(path string) string {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return "'make run' mints one into " + path + ", and starts"
	}
	getenv := func(name string) string { return map[string]string{auth.TokenFileVariable: path}[name] }
	if _, err := auth.LoadToken(getenv, ""); err != nil {
		return "nor would 'make run', which takes " + path + ": " + err.Error()
	}
	return "'make run' starts, with the token in " + path
}
