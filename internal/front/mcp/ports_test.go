package mcp_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/auth"
	"github.com/sluice-gateway/sluice/internal/front/mcp"
	"github.com/sluice-gateway/sluice/internal/front/rest"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// The tokens of the tests.
const (
	token      = "tok-everything-5f1c"
	otherToken = "tok-other-41aa"
	solveOnly  = "tok-solve-only-77aa"
)

// patience bounds what a test waits for; nothing depends on its length.
const patience = time.Minute

// stage is a tool whose programs do what their first word says.
type stage struct {
	tool    executor.Tool
	started chan struct{} // a program that waits has begun
	ended   chan struct{} // its context ended
	release chan struct{} // lets a program that is told to go on end
}

func (s *stage) Tool() executor.Tool         { return s.tool }
func (s *stage) Language() executor.Language { return executor.Language{ID: "play"} }
func (s *stage) Plugin() gateway.PluginInfo {
	return gateway.PluginInfo{Name: "stage", Version: "1.2.3", LanguageVersion: "1"}
}

func (s *stage) Submit(_ context.Context, src executor.Source) (gateway.Submission, error) {
	if bytes.HasPrefix(src.Code, []byte("busy")) {
		return nil, gateway.ErrPluginBusy
	}
	return &act{s: s, code: string(src.Code)}, nil
}

// act is one program on the stage.
type act struct {
	s    *stage
	code string
}

func (a *act) Tree() executor.Tree       { return executor.Tree{Schema: "play/1", JSON: []byte("{}")} }
func (a *act) Ended() *executor.Result   { return nil }
func (a *act) Deny(_ string, _ []string) {}
func (a *act) Close()                    {}

func (a *act) Run(ctx context.Context, _ executor.Grant, out func(executor.Stream, []byte)) (executor.Result, error) {
	word, rest, _ := strings.Cut(a.code, " ")
	res := executor.Result{Status: executor.StatusOK}
	switch word {
	case "say":
		out(executor.Stdout, []byte(rest))
	case "wait":
		a.s.started <- struct{}{}
		<-ctx.Done()
		a.s.ended <- struct{}{}
		res.Status = executor.StatusCancelled
	case "hold": // prints, and ends when it is let go
		out(executor.Stdout, []byte(rest+"\n"))
		a.s.started <- struct{}{}
		<-a.s.release
	case "draw":
		res.Artifacts = []executor.Artifact{
			{MediaType: "application/vnd.plotly.v1+json", Data: []byte(`{"data":[]}`)}, {MediaType: "image/png", Data: []byte{1, 2}},
			{MediaType: "audio/wav", Data: []byte{3}}, {MediaType: "text/csv", Data: []byte("a,b")}, {MediaType: "application/zip", Data: []byte{0xff}},
		}
	case "paint":
		res.Artifacts = []executor.Artifact{{MediaType: "application/vnd.plotly.v1+json", Data: []byte(`{"data":"` + strings.Repeat("x", 100<<10) + `"}`)}}
	case "late":
		res.Status, res.LimitFired = executor.StatusWallLimit, "wall"
	}
	return res, nil
}

type tools []gateway.Target

func (ts tools) Targets() []gateway.Target { return ts }
func (ts tools) Find(name string) (gateway.Target, error) {
	for _, t := range ts {
		if t.Tool().Name == name {
			return t, nil
		}
	}
	return nil, gateway.ErrUnknownTool
}

// rules refuse what holds "forbidden".
type rules struct{}

func (rules) Current() (gateway.Policy, error)  { return rules{}, nil }
func (rules) Revision() string                  { return "r1" }
func (rules) Sections(string) ([]string, error) { return nil, nil }
func (rules) Decide(_ context.Context, q gateway.Question) (gateway.Decision, error) {
	d := gateway.Decision{ID: "d-1", Allow: true, Profile: q.Profile, Revision: "r1"}
	if bytes.Contains(q.Source.Code, []byte("forbidden")) {
		d.Allow = false
		d.Violations = []gateway.Violation{{Rule: "word", Level: gateway.LevelError, Message: "a forbidden word", Hint: "say another", Line: 1, Column: 5}}
	}
	return d, nil
}

// journal keeps what is written down.
type journal struct {
	mu      sync.Mutex
	entries []gateway.Entry
}

// Record implements gateway.Journal.
func (j *journal) Record(e gateway.Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, e)
}

// count is how many lines there are.
func (j *journal) count() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.entries)
}

// last is the last line.
func (j *journal) last() gateway.Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.entries[len(j.entries)-1]
}

// lab is the front behind the real HTTP front, on a real socket.
type lab struct {
	*stage
	journal

	t     *testing.T
	url   string
	front *mcp.Front
	known *auth.Authenticator
}

func newLab(t *testing.T, change ...func(*mcp.Config)) *lab {
	t.Helper()
	l := &lab{t: t, stage: &stage{
		tool: executor.Tool{
			Name: "play", Description: "Plays for {wall} seconds.", SourceArgument: "code",
			Parameters: []byte(`{"type":"object","properties":{"code":{"type":"string"}},"required":["code"]}`),
		},
		started: make(chan struct{}, 64), ended: make(chan struct{}, 64), release: make(chan struct{}),
	}}
	bad := &stage{tool: executor.Tool{Name: "odd", Description: "has a schema that the protocol does not allow", Parameters: []byte(`{"type":"string"}`)}}
	quiet := slog.New(slog.DiscardHandler)
	g := gateway.New(gateway.Config{
		Executors: tools{l.stage, bad}, Policies: rules{}, Journal: &l.journal, Log: quiet, Now: time.Now,
		Limits: gateway.Limits{
			CodeBytes: 64 << 10, Concurrency: 8, Queue: 8, QueueWait: patience, ToolWall: 2 * time.Second, WallCeiling: patience, ParseWall: patience,
			Default: executor.Limits{StdoutBytes: 256 << 10, StderrBytes: 64 << 10, OutputCeilingBytes: 16 << 20},
		},
	})
	cfg := mcp.Config{Gateway: g, Version: "9.9.9", Log: quiet, Limits: mcp.Limits{CodeBytes: 64 << 10, BodyBytes: 128 << 10}}
	cfg.Recheck = func(r *http.Request) (gateway.Caller, error) { return l.known.Recheck(r) }
	for _, c := range change {
		c(&cfg)
	}
	l.front = mcp.New(cfg)
	l.serve(g)
	return l
}

func allTokens() []auth.Token {
	return []auth.Token{
		{Name: "all", Token: token, Scopes: []string{"*"}}, {Name: "other", Token: otherToken, Scopes: []string{"tools"}},
		{Name: "solver", Token: solveOnly, Scopes: []string{"solve"}},
	}
}

// reload puts other tokens in force, as the gateway does when their file changes.
func (l *lab) reload(list []auth.Token) {
	l.t.Helper()
	commit, err := l.known.Prepare(list)
	if err != nil {
		l.t.Fatal(err)
	}
	commit()
}

func (l *lab) serve(g *gateway.Gateway) {
	l.t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	var err error
	if l.known, err = auth.New(allTokens()); err != nil {
		l.t.Fatal(err)
	}
	handler := rest.New(rest.Config{
		Gateway: g, Auth: l.known, Version: "9.9.9", Limits: rest.Limits{BodyBytes: 256 << 10, CodeBytes: 64 << 10}, Log: quiet,
		Ready: func() bool { return true },
		Beside: []rest.Beside{
			{Methods: []string{"POST", "GET", "DELETE"}, Path: "/mcp", Scope: mcp.Scope, Serve: l.front.Streamable, Problem: mcp.Problem},
			{Methods: []string{"GET", "POST"}, Path: "/sse", Scope: mcp.Scope, Serve: l.front.SSE, Problem: mcp.Problem},
		},
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		l.t.Fatal(err)
	}
	server := rest.ServerFor(handler, rest.ServerConfig{WallCeiling: patience, Log: quiet})
	var done sync.WaitGroup
	done.Go(func() { _ = server.Serve(rest.Listener(listener, nil)) })
	l.t.Cleanup(func() {
		l.front.Leave()
		_ = server.Close()
		done.Wait()
	})
	l.url = "http://" + listener.Addr().String()
}

// await waits for a signal, or fails.
func (l *lab) await(what string, c <-chan struct{}) {
	l.t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		l.t.Fatalf("%s did not happen", what)
	}
}

// withToken puts a token into each request.
type withToken struct{ token string }

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.token)
	return http.DefaultTransport.RoundTrip(r)
}
