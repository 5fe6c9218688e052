package main

import (
	"net/http"

	"github.com/sluice-gateway/sluice/internal/front/mcp"
	"github.com/sluice-gateway/sluice/internal/front/rest"
)

// mcpFront is the front for the Model Context Protocol.
func (h *house) mcpFront() *mcp.Front {
	return mcp.New(mcp.Config{
		Gateway: h.gateway, Version: version, Log: h.log,
		Limits: mcp.Limits{CodeBytes: int(h.cfg.Limits.CodeBytes), BodyBytes: int64(h.cfg.Limits.BodyBytes), Idle: h.cfg.Session.Idle},
	})
}

// mcpRoutes are the addresses of that front.
func mcpRoutes(f *mcp.Front) []rest.Beside {
	return []rest.Beside{
		{Methods: []string{http.MethodPost, http.MethodGet, http.MethodDelete}, Path: "/mcp", Scope: mcp.Scope, Serve: f.Streamable},
		{Methods: []string{http.MethodGet, http.MethodPost}, Path: "/sse", Scope: mcp.Scope, Serve: f.SSE},
	}
}
