package main

import (
	"net/http"

	"github.com/sluice-gateway/sluice/internal/front/mcp"
	"github.com/sluice-gateway/sluice/internal/front/rest"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// mcpFront is the front for the Model Context Protocol.
//
// recheck says who asks, once more; nil: who asks is not known by a token.
func (h *house) mcpFront(recheck func(*http.Request) (gateway.Caller, error)) *mcp.Front {
	return mcp.New(mcp.Config{
		Gateway: h.gateway, Version: version, Log: h.log, Recheck: recheck,
		Limits: mcp.Limits{CodeBytes: int(h.cfg.Limits.CodeBytes), BodyBytes: int64(h.cfg.Limits.BodyBytes), Idle: h.cfg.Session.Idle},
	})
}

// mcpRoutes are the addresses of that front.
func mcpRoutes(f *mcp.Front) []rest.Beside {
	return []rest.Beside{
		{Methods: []string{http.MethodPost, http.MethodGet, http.MethodDelete}, Path: "/mcp", Scope: mcp.Scope, Serve: f.Streamable, Problem: mcp.Problem},
		{Methods: []string{http.MethodGet, http.MethodPost}, Path: "/sse", Scope: mcp.Scope, Serve: f.SSE, Problem: mcp.Problem},
	}
}
