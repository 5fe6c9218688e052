package gateway

import (
	"context"

	"github.com/sluice-gateway/sluice/executor"
)

// Shower is a [Policy] that can tell in advance what it lets pass. It is found
// by type assertion.
type Shower interface {
	// Show tells what holds under a profile. Errors: ErrUnknownProfile,
	// ErrPolicyFault.
	Show(ctx context.Context, profile string) (ProfileView, error)
}

// ProfileView is what holds under one profile.
type ProfileView struct {
	Name        string
	Description string
	Limits      map[string]float64 // by name: wall_seconds, memory_bytes …
	Languages   []LanguageView     // sorted by id
}

// LanguageView is the rules of one language under a profile.
type LanguageView struct {
	ID      string
	Rules   []RuleView // that are not off, sorted by id
	Modules []string   // that programs may import, sorted; nil: the policy does not say
}

// RuleView is one rule under a profile.
type RuleView struct{ ID, Title, Level, Hint string }

// Stocked is a [Target] that tells which libraries programs find. It is found by
// type assertion.
type Stocked interface{ Libraries() []executor.Library }

// Profiles lists the profiles that a caller's submissions are judged by, each
// with the routes that it is for: the caller's own, or those of the routes that
// its scopes open.
func (g *Gateway) Profiles(c Caller) (names []string, routes map[string][]Route) {
	routes = map[string][]Route{}
	for _, route := range []Route{RouteSolve, RouteRun, RouteTools} {
		if !c.May(string(route)) {
			continue
		}
		name := g.settings.Load().Profiles[route]
		if c.Profile != "" {
			name = c.Profile
		}
		if _, known := routes[name]; !known {
			names = append(names, name)
		}
		routes[name] = append(routes[name], route)
	}
	return names, routes
}

// Show tells what holds under a profile, and the revision that says so. Errors:
// ErrNoPolicy, ErrUnsupported, those of [Shower].
func (g *Gateway) Show(ctx context.Context, profile string) (view ProfileView, revision string, err error) {
	current, err := g.cfg.Policies.Current()
	if err != nil {
		return view, "", err
	}
	shower, ok := current.(Shower)
	if !ok {
		return view, "", ErrUnsupported
	}
	view, err = shower.Show(ctx, profile)
	return view, current.Revision(), err
}
