package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/sluice-gateway/sluice/internal/auth"
	"github.com/sluice-gateway/sluice/internal/config"
	"github.com/sluice-gateway/sluice/internal/policy"
	"github.com/sluice-gateway/sluice/policies"
)

// namedProfiles are the profiles that the configuration and its tokens name, by
// who does.
func namedProfiles(cfg config.Profiles, tokens []auth.Token) map[string]string {
	named := map[string]string{
		"policy.profiles.solve": cfg.Solve, "policy.profiles.run": cfg.Run, "policy.profiles.tools": cfg.Tools, "policy.profiles.cli": cfg.CLI,
	}
	for _, t := range tokens {
		if t.Profile != "" {
			named["the token "+t.Name] = t.Profile
		}
	}
	return named
}

// tokens are those in force, without their secrets.
func (k *tokenKeeper) tokens() []auth.Token {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.inForce
}

// needed are the profiles that the policy is asked for.
func (h *house) needed() map[string]string {
	var tokens []auth.Token
	if h.tokens != nil {
		tokens = h.tokens.tokens()
	}
	return namedProfiles(h.cfg.Policy.Profiles, tokens)
}

// checkPolicy proves what the configuration says of its policy, as far as that
// goes without plugins: the folder compiles, its profiles are whole, and those
// that are named are there.
func checkPolicy(ctx context.Context, cfg *config.Loaded) (warnings []string, faults config.Faults) {
	fault := func(key string, err error) {
		faults = append(faults, config.Fault{Place: cfg.Origin(key).Place, Key: key, Problem: err.Error()})
	}
	var tokens []auth.Token
	if cfg.Auth.Tokens != "" {
		var err error
		if tokens, err = auth.ReadFile(cfg.Auth.Tokens); err != nil {
			fault("auth.tokens", err)
		}
	}
	folder := policies.FS()
	if cfg.Policy.Dir != "" {
		folder = policy.Folder(cfg.Policy.Dir)
	}
	if _, err := os.Stat(cfg.Policy.Dir); errors.Is(err, fs.ErrNotExist) && cfg.Policy.Dir != "" && cfg.Origin("policy.dir").Place == "" {
		return []string{"policy.dir: " + err.Error() + ": serve needs a policy there, or policy.dir empty"}, faults
	}
	store, err := policy.Load(ctx, policy.Config{FS: folder, SkipCorpus: true})
	if err != nil {
		fault("policy.dir", err)
		return nil, faults
	}
	status := store.Status()
	for _, w := range status.Warnings {
		if strings.HasPrefix(w, "profiles.yaml:") {
			warnings = append(warnings, w)
		}
	}
	if !status.AdmitsAll {
		missingProfiles(status.Profiles, namedProfiles(cfg.Policy.Profiles, tokens), fault)
	}
	return warnings, faults
}

// missingProfiles tells of named profiles that are not there.
func missingProfiles(there []string, named map[string]string, fault func(key string, err error)) {
	for _, who := range slices.Sorted(maps.Keys(named)) {
		if slices.Contains(there, named[who]) {
			continue
		}
		key := who
		if !strings.HasPrefix(who, "policy.") {
			key = "auth.tokens"
		}
		fault(key, fmt.Errorf("%s names the profile %s, which the policy does not have; it has %s", who, named[who], strings.Join(there, ", ")))
	}
}
