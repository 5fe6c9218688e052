package rest

import (
	"net/http"
	"slices"
	"strings"
)

// The scopes that a token may have.
const (
	scopeSolve = "solve"
	scopeRun   = "run"
	scopeTools = "tools"
	scopeCells = "sessions"
)

// route is one row of the table: who may call what.
type route struct {
	method string // empty: every method
	path   string // of net/http's patterns
	open   bool   // answered without a token
	secret bool   // without a token it looks like a route that does not exist
	scopes []string
	handle func(*exchange) error

	problem func(status int, detail, requestID string) any // an error's body; nil: ours
}

// table is every route, in the order of GET /'s list. A token needs one of a
// route's scopes; a route that is not open and names none takes every token.
// The decision alone runs nothing and tells no more than a run does, so either
// of the scopes that run programs is enough for it.
func (s *server) table() []route {
	return []route{
		{method: http.MethodGet, path: "/{$}", open: true, handle: s.index},
		{method: http.MethodGet, path: "/healthz", open: true, handle: health},
		{method: http.MethodGet, path: "/readyz", open: true, handle: s.ready},
		{method: http.MethodGet, path: "/openapi.json", secret: true, handle: s.document},
		{method: http.MethodPost, path: "/solve", scopes: []string{scopeSolve}, handle: s.solve},
		{method: http.MethodPost, path: "/v1/run", scopes: []string{scopeRun}, handle: s.run},
		{method: http.MethodPost, path: "/v1/check", scopes: []string{scopeRun, scopeSolve}, handle: s.check},
		{method: http.MethodGet, path: "/v1/policy", scopes: []string{scopePolicy}, handle: s.policy},
		{method: http.MethodGet, path: "/v1/tools", scopes: []string{scopeTools}, handle: s.tools},
		{method: http.MethodPost, path: "/v1/tools/call", scopes: []string{scopeTools}, handle: s.callTool},
		{method: http.MethodPost, path: "/v1/tool_calls", scopes: []string{scopeTools}, handle: s.callTools},
		{method: http.MethodPost, path: "/v1/sessions", scopes: cells(), handle: s.openSession},
		{method: http.MethodGet, path: "/v1/sessions", scopes: cells(), handle: s.listSessions},
		{method: http.MethodGet, path: "/v1/sessions/{id}", scopes: cells(), handle: s.getSession},
		{method: http.MethodDelete, path: "/v1/sessions/{id}", scopes: cells(), handle: s.deleteSession},
		{method: http.MethodPost, path: "/v1/sessions/{id}/fork", scopes: cells(), handle: s.forkSession},
		{method: http.MethodPost, path: "/v1/sessions/{id}/reset", scopes: cells(), handle: s.resetSession},
		{method: http.MethodPost, path: "/v1/sessions/{id}/interrupt", scopes: cells(), handle: s.interruptSession},
	}
}

// cells are the scopes for the verbs on sessions: of those who can run a cell, and
// one for those who just look after them.
func cells() []string { return []string{scopeTools, scopeRun, scopeCells} }

func (r route) pattern() string { return strings.TrimSpace(r.method + " " + r.path) }

func wrongMethod(path string, methods []string) route {
	if slices.Contains(methods, http.MethodGet) {
		methods = append(methods, http.MethodHead)
	}
	allow := strings.Join(methods, ", ")
	return route{path: path, open: path != "/openapi.json", secret: true, handle: func(x *exchange) error {
		x.Header().Set("Allow", allow)
		return refusal{status: http.StatusMethodNotAllowed, detail: "this route takes " + allow}
	}}
}

func notFound(*exchange) error {
	return refusal{status: http.StatusNotFound, detail: "no such route"}
}
