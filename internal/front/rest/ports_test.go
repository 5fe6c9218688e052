package rest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/audit"
	"github.com/sluice-gateway/sluice/internal/auth"
	"github.com/sluice-gateway/sluice/internal/front/rest"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// The tokens of the tests. None may ever be seen in a log, a journal or an
// answer.
const (
	token      = "tok-everything-5f1c"
	solveOnly  = "tok-solve-only-77aa"
	slowToken  = "tok-slow-90bd"
	wrongToken = "tok-nobody-1234"
)

// behaviour is what a tool of the tests does with a text.
type behaviour func(ctx context.Context, src executor.Source) (gateway.Submission, error)

type target struct {
	tool     executor.Tool
	language string
	submit   behaviour
}

func (t *target) Tool() executor.Tool         { return t.tool }
func (t *target) Language() executor.Language { return executor.Language{ID: t.language} }
func (t *target) Plugin() gateway.PluginInfo {
	return gateway.PluginInfo{Name: "test-" + t.language, Version: "1.2.3", LanguageVersion: "3.11"}
}

func (t *target) Submit(ctx context.Context, src executor.Source) (gateway.Submission, error) {
	return t.submit(ctx, src)
}

type targets []*target

func (ts targets) Find(name string) (gateway.Target, error) {
	for _, t := range ts {
		if t.tool.Name == name || t.language == name {
			return t, nil
		}
	}
	return nil, gateway.ErrUnknownTool
}

func (ts targets) Targets() []gateway.Target {
	var all []gateway.Target
	for _, t := range ts {
		all = append(all, t)
	}
	return all
}

// submission is a text that was parsed, and how its run ends.
type submission struct {
	ended *executor.Result
	run   func(ctx context.Context, g executor.Grant, out func(executor.Stream, []byte)) (executor.Result, error)
	freed func()
}

func (s *submission) Tree() executor.Tree       { return executor.Tree{Schema: "test/1", JSON: []byte("{}")} }
func (s *submission) Ended() *executor.Result   { return s.ended }
func (s *submission) Deny(_ string, _ []string) {}
func (s *submission) Close() {
	if s.freed != nil {
		s.freed()
	}
}

func (s *submission) Run(ctx context.Context, g executor.Grant, out func(executor.Stream, []byte)) (executor.Result, error) {
	return s.run(ctx, g, out)
}

// prints is a run that prints text and ends as res says.
func prints(text string, res executor.Result) *submission {
	return &submission{run: func(_ context.Context, _ executor.Grant, out func(executor.Stream, []byte)) (executor.Result, error) {
		out(executor.Stdout, []byte(text))
		return res, nil
	}}
}

// rules is the policy of the tests: what holds "forbidden" is refused.
type rules struct{ err, currentErr error }

func (p *rules) Current() (gateway.Policy, error)  { return p, p.currentErr }
func (p *rules) Revision() string                  { return "r1" }
func (p *rules) Sections(string) ([]string, error) { return nil, nil }
func (p *rules) Decide(_ context.Context, q gateway.Question) (gateway.Decision, error) {
	if p.err != nil {
		return gateway.Decision{}, p.err
	}
	if q.Profile == "nosuch" {
		return gateway.Decision{}, gateway.ErrUnknownProfile
	}
	d := gateway.Decision{ID: "d-1", Allow: true, Profile: q.Profile, Revision: "r1"}
	if bytes.Contains(q.Source.Code, []byte("forbidden")) {
		d.Allow = false
		d.Violations = []gateway.Violation{{
			Rule: "python.import", Level: gateway.LevelError, Message: "import of 'forbidden' is blocked", Hint: "use math",
			Line: 1, Column: 8, EndLine: 1, EndColumn: 17,
		}}
	}
	return d, nil
}

// lab is a gateway with ports of the tests behind the real front, the real
// authenticator and the real journal.
type lab struct {
	t       *testing.T
	handler http.Handler
	log     *safeBuffer
	journal *safeBuffer
	policy  *rules
	python  *target
	calc    *target
	ready   bool
	front   rest.Config
	close   func()
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func newLab(t *testing.T, change ...func(*gateway.Config)) *lab {
	t.Helper()
	l := &lab{t: t, log: &safeBuffer{}, journal: &safeBuffer{}, policy: &rules{}, ready: true}
	l.python = &target{
		tool: executor.Tool{Name: "stateful_python_code_exec", SourceArgument: "code", Stateful: true}, language: "python",
		submit: func(_ context.Context, src executor.Source) (gateway.Submission, error) {
			return prints(string(src.Code)+"\n", executor.Result{Status: executor.StatusOK}), nil
		},
	}
	l.calc = &target{
		tool: executor.Tool{
			Name: "calculator", SourceArgument: "expression", Description: "Evaluate within {wall} seconds.",
			Parameters: []byte(`{"type":"object","properties":{"expression":{"type":"string"}},"required":["expression"]}`),
		}, language: "calc",
		submit: func(_ context.Context, src executor.Source) (gateway.Submission, error) {
			return prints("", executor.Result{Status: executor.StatusOK, HasValue: true, Value: string(src.Code)}), nil
		},
	}
	logger := slog.New(slog.NewJSONHandler(l.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	journal, err := audit.Open(audit.Config{Stdout: l.journal, Log: logger})
	if err != nil {
		t.Fatal(err)
	}
	l.close = func() { _ = journal.Close() }
	t.Cleanup(l.close)
	cfg := gateway.Config{
		Executors: targets{l.calc, l.python}, Policies: l.policy, Journal: journal, Log: logger, Now: time.Now,
		Limits: gateway.Limits{
			CodeBytes: 64 << 10, Concurrency: 4, Queue: 4, QueueWait: time.Second, ToolWall: 120 * time.Second, WallCeiling: 120 * time.Second,
			ParseWall: time.Second, Default: executor.Limits{
				ArtifactBytes: 512 << 10,
				Wall:          30 * time.Second, MemoryBytes: 1 << 30, StdoutBytes: 256 << 10, StderrBytes: 64 << 10, OutputCeilingBytes: 16 << 20,
			},
		},
		Profiles: map[gateway.Route]string{gateway.RouteSolve: "solve", gateway.RouteRun: "solve", gateway.RouteTools: "tool"},
	}
	for _, c := range change {
		c(&cfg)
	}
	l.front = rest.Config{
		Gateway: gateway.New(cfg), Auth: tokens(t), Version: "9.9.9", Limits: rest.Limits{BodyBytes: 256 << 10, CodeBytes: 64 << 10},
		Log: logger, Ready: func() bool { return l.ready },
	}
	l.handler = rest.New(l.front)
	return l
}

// rebuild makes the handler again, of a front that was changed.
func (l *lab) rebuild() { l.handler = rest.New(l.front) }

func tokens(t *testing.T) *auth.Authenticator {
	t.Helper()
	a, err := auth.New([]auth.Token{
		{Name: "all", Token: token, Scopes: []string{"*"}},
		{Name: "solver", Token: solveOnly, Scopes: []string{"solve"}},
		{Name: "slow", Token: slowToken, Scopes: []string{"*"}, Rate: 0.001, Burst: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// serve puts the handler behind a real socket, as the command does.
func (l *lab) serve() (address string, read *counter) {
	l.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		l.t.Fatal(err)
	}
	counted := &countingListener{Listener: listener, read: &counter{}}
	srv := rest.ServerFor(l.handler, rest.ServerConfig{WallCeiling: time.Minute, Log: slog.New(slog.NewJSONHandler(l.log, nil))})
	done := make(chan error, 1)
	go func() { done <- srv.Serve(rest.Listener(counted, nil)) }()
	l.t.Cleanup(func() {
		_ = srv.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			l.t.Errorf("Serve ended with %v", err)
		}
	})
	return listener.Addr().String(), counted.read
}

type counter struct {
	mu sync.Mutex
	n  int64
}

func (c *counter) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += int64(n)
}

func (c *counter) value() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

type countingListener struct {
	net.Listener
	read *counter
}

func (l *countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &countingConn{Conn: c, read: l.read}, nil
}

type countingConn struct {
	net.Conn
	read *counter
}

func (c *countingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.add(n)
	return n, err
}

// CloseWrite keeps net/http's polite close.
func (c *countingConn) CloseWrite() error { return c.Conn.(*net.TCPConn).CloseWrite() }

func body(s string) io.Reader { return strings.NewReader(s) }
