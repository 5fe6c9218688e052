package mcp

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// streams are the open connections of the transport of 2024-11-05: a GET whose
// answer stays open, and POSTs beside it.
type streams struct {
	mu   sync.Mutex
	open map[string]*sseSession
}

type sseSession struct {
	owner     string // the caller's name: nobody else posts to it
	visit     *visit
	transport *sdk.SSEServerTransport
}

// SSE serves one request of the transport of 2024-11-05. by says who asks; its
// caller is known already and may use this front.
func (f *Front) SSE(w http.ResponseWriter, r *http.Request, by gateway.Request) {
	out := f.stream(w, by.ID)
	defer out.finish()
	switch {
	case foreign(r):
		out.refuse(http.StatusForbidden, 0, nil, "requests from web pages of another origin are not served")
	case r.Method == http.MethodPost:
		f.ssePost(out, r, by)
	default:
		f.sseOpen(out, r, by)
	}
}

func (f *Front) sseOpen(out *stream, r *http.Request, by gateway.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(f.closing, cancel)()
	id := rand.Text()
	v := newVisit(ctx, by)
	s := &sseSession{owner: by.Caller.Name, visit: v, transport: &sdk.SSEServerTransport{
		Endpoint: r.URL.Path + "?sessionid=" + id, Response: out, MaxRequestBodyBytes: f.cfg.Limits.BodyBytes,
	}}
	if !f.streams.put(id, s, f.cfg.Limits.Sessions) {
		out.refuse(http.StatusTooManyRequests, 0, nil, "the token has as many open streams as it may have: close one")
		return
	}
	defer f.streams.drop(id)
	out.Header().Set("Content-Type", eventStream)
	go f.whileAdmitted(ctx, cancel, r)
	session, err := f.deskOf(by.Caller).server.Connect(v.in(ctx), s.transport, nil)
	if err != nil {
		return // the caller is gone: the first event did not go out
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = session.Wait() // why it ended is the caller's business
	}()
	select {
	case <-ctx.Done():
	case <-ended:
	}
	cancel() // what runs is not waited for
	_ = session.Close()
	<-ended
}

func (f *Front) ssePost(out *stream, r *http.Request, by gateway.Request) {
	s := f.streams.get(r.URL.Query().Get("sessionid"), by.Caller.Name)
	if s == nil {
		out.refuse(http.StatusNotFound, 0, nil, "no such stream of yours: open one with GET")
		return
	}
	m, ok := f.read(out, r)
	if !ok {
		return
	}
	if m.method == "" && m.id == nil {
		out.refuse(http.StatusBadRequest, jsonrpc.CodeInvalidRequest, nil, "the message is neither a request nor an answer")
		return
	}
	s.visit.caller.Store(&by.Caller) // what the token may do now, not when the stream was opened
	s.transport.ServeHTTP(out, r)
}

// put keeps a stream, unless its owner has as many as it may.
func (l *streams) put(id string, s *sseSession, most int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := 0
	for _, other := range l.open {
		if other.owner == s.owner {
			own++
		}
	}
	if own >= most {
		return false
	}
	l.open[id] = s
	return true
}

func (l *streams) get(id, owner string) *sseSession {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.open[id]; s != nil && s.owner == owner {
		return s
	}
	return nil
}

func (l *streams) drop(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, id)
}
