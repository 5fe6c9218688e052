package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

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
	}
	v := &visit{by: by, gone: ctx}
	r = r.WithContext(v.in(ctx))
	if m.modern {
		f.modern.ServeHTTP(out, r)
		return
	}
	if r.Method == http.MethodPost && r.Header.Get(sessionHeader) == "" && f.deskOf(by.Caller).sessions() >= f.cfg.Limits.Sessions {
		out.refuse(http.StatusTooManyRequests, 0, m.id, "the token has as many sessions of the protocol as it may have: end one with DELETE, or let one expire")
		return
	}
	f.legacy.ServeHTTP(out, r)
}

// message is what of a request must be known before the protocol's own reader
// sees it.
type message struct {
	modern bool
	idle   bool // nothing runs while its answer is open
	method string
	id     jsontext.Value
}

// read looks at a request without using it up. What it cannot be is refused.
func (f *Front) read(out *stream, r *http.Request) (message, bool) {
	version := r.Header.Get(versionHeader)
	m := message{modern: version >= firstModern || r.Header.Get(methodHeader) != "", idle: r.Method == http.MethodGet}
	if r.Method == http.MethodPost {
		raw, err := io.ReadAll(http.MaxBytesReader(out, r.Body, f.cfg.Limits.BodyBytes))
		var over *http.MaxBytesError
		switch {
		case errors.As(err, &over):
			out.refuse(http.StatusRequestEntityTooLarge, 0, nil, "the message is too large: at most "+gateway.Bytes(uint64(over.Limit)))
			return m, false
		case err != nil:
			out.refuse(http.StatusBadRequest, 0, nil, "the message did not arrive whole or in time")
			return m, false
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		if !m.peek(raw) {
			out.refuse(http.StatusBadRequest, jsonrpc.CodeParseError, nil, "the message is not JSON in UTF-8, or a key stands twice in one object of it")
			return m, false
		}
	}
	if known := sdk.SupportedProtocolVersions(); version != "" && !slices.Contains(known, version) {
		out.unsupported(m.id, version, known)
		return m, false
	}
	return m, true
}

// peek reads a message's name and id; false: it is not JSON that is taken.
func (m *message) peek(raw []byte) bool {
	if json.Unmarshal(raw, new(jsontext.Value)) != nil {
		return false
	}
	var one struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
	}
	if json.Unmarshal(raw, &one) != nil {
		return true // a batch, or of a wrong shape: the protocol's reader says so
	}
	m.method = one.Method
	if kind := one.ID.Kind(); kind == '"' || kind == '0' {
		m.id = one.ID
	}
	m.idle = one.Method == "subscriptions/listen"
	return true
}

// foreign says whether a browser sent the request for a page of another origin,
// or of a name that was made to lead here.
func foreign(r *http.Request) bool {
	if r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") == "" {
		return false
	}
	asked := *r
	asked.Method = http.MethodPost // a GET opens a stream: it is no safer
	return http.NewCrossOriginProtection().Check(&asked) != nil || rebound(r)
}
