package rest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// scopePolicy is for reading what the policy lets pass.
const scopePolicy = "policy:read"

type policyAnswer struct {
	Revision string          `json:"revision"`
	Profiles []profileAnswer `json:"profiles"`
}

type profileAnswer struct {
	Name        string             `json:"name"`
	Description string             `json:"description"`
	Routes      []string           `json:"routes"`
	Limits      map[string]float64 `json:"limits"`
	Languages   []languageAnswer   `json:"languages"`
}

type languageAnswer struct {
	Language string         `json:"language"`
	Version  string         `json:"version"`
	Rules    []ruleAnswer   `json:"rules"`
	Modules  []moduleAnswer `json:"modules,omitzero"` // absent: the policy does not say
}

type ruleAnswer struct {
	Rule  string `json:"rule"`
	Level string `json:"level"`
	Title string `json:"title"`
	Hint  string `json:"hint"`
}

type moduleAnswer struct {
	Name    string  `json:"name"`
	Version *string `json:"version"` // of the library that it is from; null: it is the language's own
}

// policy tells a caller what its programs may do, so that a model can be told
// before it writes one.
func (s *server) policy(x *exchange) error {
	names, routes := s.cfg.Gateway.Profiles(x.caller)
	answer := policyAnswer{Profiles: []profileAnswer{}}
	for _, name := range names {
		view, revision, err := s.cfg.Gateway.Show(x.r.Context(), name)
		if err != nil {
			return err
		}
		if answer.Revision != "" && answer.Revision != revision {
			return s.policy(x) // another policy came in force between two profiles
		}
		answer.Revision = revision
		answer.Profiles = append(answer.Profiles, s.profileOf(view, routes[name]))
	}
	x.json(http.StatusOK, answer)
	return nil
}

func (s *server) profileOf(view gateway.ProfileView, routes []gateway.Route) profileAnswer {
	p := profileAnswer{Name: view.Name, Description: view.Description, Limits: view.Limits, Languages: []languageAnswer{}}
	for _, route := range routes {
		p.Routes = append(p.Routes, pathsOf(route)...)
	}
	for _, l := range view.Languages {
		target := s.targetOf(l.ID)
		if target == nil {
			continue // no plugin runs it
		}
		shown := languageAnswer{Language: l.ID, Version: target.Language().Version, Rules: []ruleAnswer{}}
		for _, r := range l.Rules {
			shown.Rules = append(shown.Rules, ruleAnswer{Rule: r.ID, Level: r.Level, Title: r.Title, Hint: r.Hint})
		}
		shown.Modules = modulesOf(target, l.Modules)
		p.Languages = append(p.Languages, shown)
	}
	return p
}

// pathsOf are the paths that a route's profile holds for.
func pathsOf(route gateway.Route) []string {
	switch route {
	case gateway.RouteSolve:
		return []string{"/solve"}
	case gateway.RouteRun:
		return []string{"/v1/run", "/v1/check"}
	case gateway.RouteTools:
		return []string{"/v1/tools/call", "/v1/tool_calls"}
	}
	return nil
}

func (s *server) targetOf(language string) gateway.Target {
	for _, t := range s.cfg.Gateway.Targets() {
		if t.Language().ID == language {
			return t
		}
	}
	return nil
}

// modulesOf joins modules with the versions of the libraries that they are from.
func modulesOf(target gateway.Target, modules []string) []moduleAnswer {
	if modules == nil {
		return nil
	}
	versions := map[string]string{}
	if stocked, ok := target.(gateway.Stocked); ok {
		for _, l := range stocked.Libraries() {
			for _, root := range l.Roots {
				versions[root] = l.Version
			}
		}
	}
	answer := make([]moduleAnswer, 0, len(modules))
	for _, name := range modules {
		m := moduleAnswer{Name: name}
		root, _, _ := strings.Cut(name, ".")
		if version, ok := versions[root]; ok {
			m.Version = &version
		}
		answer = append(answer, m)
	}
	slices.SortFunc(answer, func(a, b moduleAnswer) int { return strings.Compare(a.Name, b.Name) })
	return answer
}
