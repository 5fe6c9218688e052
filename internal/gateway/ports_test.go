package gateway_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// The ports below are the corridor's neighbours, scripted: the corridor itself
// is the real one.

type plugin struct {
	submitErr error
	tree      executor.Tree
	swapped   *executor.Tree // shown after the verdict, to try to run another tree
	ended     *executor.Result
	prints    []chunk
	result    executor.Result
	runErr    error
	hold      chan struct{} // Run waits for it, or for ctx

	mu      sync.Mutex
	sources []executor.Source
	grants  []executor.Grant
	denied  [][]string
	closed  int
}

type chunk struct {
	stream executor.Stream
	text   string
}

func (p *plugin) Tool() executor.Tool {
	return executor.Tool{Name: "python", Language: "python"}
}

func (p *plugin) Language() executor.Language {
	return executor.Language{ID: "python", Version: "3.11.2", TreeSchema: "pyast/1"}
}

func (p *plugin) Plugin() gateway.PluginInfo {
	return gateway.PluginInfo{Name: "python-exec", Version: "1.0.0", LanguageVersion: "3.11.2"}
}

func (p *plugin) Find(tool string) (gateway.Target, error) {
	if tool != "python" {
		return nil, gateway.ErrUnknownTool
	}
	return p, nil
}

func (p *plugin) Targets() []gateway.Target { return []gateway.Target{p} }

func (p *plugin) Submit(_ context.Context, src executor.Source) (gateway.Submission, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sources = append(p.sources, src)
	if p.submitErr != nil {
		return nil, p.submitErr
	}
	return &submission{p: p}, nil
}

type submission struct {
	p     *plugin
	asked int
}

func (s *submission) Tree() executor.Tree {
	s.asked++
	if s.asked > 1 && s.p.swapped != nil {
		return *s.p.swapped
	}
	return s.p.tree
}

func (s *submission) Ended() *executor.Result { return s.p.ended }

func (s *submission) Run(ctx context.Context, g executor.Grant, out func(executor.Stream, []byte)) (executor.Result, error) {
	s.p.mu.Lock()
	s.p.grants = append(s.p.grants, g)
	s.p.mu.Unlock()
	for _, c := range s.p.prints {
		out(c.stream, []byte(c.text))
	}
	if s.p.hold != nil {
		select {
		case <-s.p.hold:
		case <-ctx.Done():
			return executor.Result{Status: executor.StatusCancelled}, nil
		}
	}
	return s.p.result, s.p.runErr
}

func (s *submission) Deny(_ string, reasons []string) { s.p.denied = append(s.p.denied, reasons) }

func (s *submission) Close() {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	s.p.closed++
}

type policy struct {
	none        error
	sections    []string
	sectionsErr error
	decision    gateway.Decision
	err         error

	mu    sync.Mutex
	asked []gateway.Question
}

func (p *policy) Current() (gateway.Policy, error) {
	if p.none != nil {
		return nil, p.none
	}
	return p, nil
}

func (p *policy) Revision() string                  { return "r1" }
func (p *policy) Sections(string) ([]string, error) { return p.sections, p.sectionsErr }

func (p *policy) Decide(_ context.Context, q gateway.Question) (gateway.Decision, error) {
	p.mu.Lock()
	p.asked = append(p.asked, q)
	p.mu.Unlock()
	return p.decision, p.err
}

type journal struct {
	mu      sync.Mutex
	entries []gateway.Entry
}

func (j *journal) Record(e gateway.Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, e)
}

type world struct {
	plugin  *plugin
	policy  *policy
	journal *journal
	cfg     gateway.Config
}

func newWorld() *world {
	w := &world{
		plugin: &plugin{
			tree:   executor.Tree{Schema: "pyast/1", JSON: []byte(`{"schema":"pyast/1"}`)},
			result: executor.Result{Status: executor.StatusOK},
		},
		policy: &policy{
			sections: []string{"names"},
			decision: gateway.Decision{ID: "d1", Allow: true, Profile: "solve", Revision: "r1", Grants: []string{"import:math"}},
		},
		journal: &journal{},
	}
	w.cfg = gateway.Config{
		Executors: w.plugin, Policies: w.policy, Journal: w.journal,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: time.Now,
		Profiles: map[gateway.Route]string{gateway.RouteSolve: "solve", gateway.RouteTools: "tool"},
		Limits: gateway.Limits{
			CodeBytes: 1 << 16, Concurrency: 2, Queue: 1, QueueWait: time.Minute, ToolWall: 100 * time.Second,
			WallCeiling: 120 * time.Second, ParseWall: 5 * time.Second, MaxTreeBytes: 4 << 20,
			Default: executor.Limits{
				Wall: 30 * time.Second, MemoryBytes: 1 << 30, StdoutBytes: 16, StderrBytes: 8,
				OutputCeilingBytes: 1 << 20, ArtifactBytes: 1 << 19,
			},
		},
	}
	return w
}

func request() gateway.Request {
	return gateway.Request{
		ID: "req-1", Route: gateway.RouteSolve, Tool: "python", Code: []byte("print(1)\n"),
		Caller: gateway.Caller{Name: "worker", Scopes: []string{"solve"}}, Traceparent: "00-a-b-01",
	}
}

func solve(t *testing.T, w *world, req gateway.Request) gateway.Answer {
	t.Helper()
	ans, err := gateway.New(w.cfg).Solve(context.Background(), req)
	if err != nil {
		t.Fatalf("Solve: %v", err)
	}
	return ans
}

func onlyEntry(t *testing.T, w *world) gateway.Entry {
	t.Helper()
	if len(w.journal.entries) != 1 {
		t.Fatalf("the journal has %d entries, want 1", len(w.journal.entries))
	}
	e := w.journal.entries[0]
	if bytes.Contains(e.Code, []byte("print")) && !w.cfg.RecordSource {
		t.Fatal("the journal holds the program's text, which nobody asked for")
	}
	return e
}
