package mcp

import (
	"context"
	"net/http"
	"strings"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// The headers by which the eras are told apart.
const (
	versionHeader = "Mcp-Protocol-Version"
	methodHeader  = "Mcp-Method"
	sessionHeader = "Mcp-Session-Id"
)

// firstModern is the version since which a request stands alone. Versions are
// dates and compare as text.
const firstModern = "2026-07-28"

// Streamable serves one request of the streamable HTTP transport, of either era.
// by says who asks; its caller is known already and may use this front.
func (f *Front) Streamable(w http.ResponseWriter, r *http.Request, by gateway.Request) {
	out := f.stream(w, by.ID)
	defer out.finish()
	if foreign(r) {
		out.refuse(http.StatusForbidden, 0, nil, "requests from web pages of another origin are not served")
		return
	}
	m, ok := f.read(out, r)
	if !ok {
		return
	}
	out.about = m.id
	if m.method == "tools/call" {
		out.earlyAfter(f.cfg.Times.Early)
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if m.idle {
		defer context.AfterFunc(f.closing, cancel)()
		go f.whileAdmitted(ctx, cancel, r)
	}
	r = r.WithContext(newVisit(ctx, by).in(ctx))
	switch {
	case m.modern:
		f.modern.ServeHTTP(out, r)
	case r.Method == http.MethodPost && r.Header.Get(sessionHeader) == "" && !f.mayOpen(out, m, by):
	default:
		f.legacy.ServeHTTP(out, r)
	}
}

// mayOpen says whether a message of the older protocol that names no session may
// be answered: the one that opens a session, and those that need none. Others are
// refused.
func (f *Front) mayOpen(out *stream, m message, by gateway.Request) bool {
	switch m.method {
	case "initialize":
		if f.deskOf(by.Caller).sessions() < f.cfg.Limits.Sessions {
			return true
		}
		out.refuse(http.StatusTooManyRequests, 0, m.id, "the token has as many sessions of the protocol as it may have: end one with DELETE, or let one expire")
	case "ping", "server/discover":
		return true
	default:
		out.refuse(http.StatusBadRequest, 0, m.id, "the request names no session: send initialize, then Mcp-Session-Id as its answer has it; "+
			"or MCP-Protocol-Version: "+firstModern+", which needs no session")
	}
	return false
}

// foreign says whether a browser sent the request for a page of another origin,
// or of a name that was made to lead here.
func foreign(r *http.Request) bool {
	origins, sites := r.Header.Values("Origin"), r.Header.Values("Sec-Fetch-Site")
	if len(origins) > 1 || len(sites) > 1 {
		return true // a browser sends each once, and what is looked at below is the first alone
	}
	if strings.Join(origins, "") == "" && strings.Join(sites, "") == "" {
		return false
	}
	asked := *r
	asked.Method = http.MethodPost // a GET opens a stream: it is no safer
	return http.NewCrossOriginProtection().Check(&asked) != nil || rebound(r)
}
