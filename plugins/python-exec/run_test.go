package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/sandbox"
)

// TestMain lets the test binary be its own sandbox shim.
func TestMain(m *testing.M) {
	if code, isShim := sandbox.Shim(os.Args); isShim {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// interpreterPath is the environment that the tests run in.
func interpreterPath(tb testing.TB) string {
	tb.Helper()
	path := os.Getenv("SLUICE_TEST_PYTHON")
	if path == "" {
		path = filepath.Join("..", "..", ".venv", "bin", "python")
	}
	if _, err := os.Stat(path); err != nil {
		tb.Fatalf("%s is missing: `make build` makes the environment that programs run in", path)
	}
	return path
}

// start configures a plugin with real children; set changes its settings.
func start(tb testing.TB, set map[string]any) *plugin {
	tb.Helper()
	return startLess(tb, set, lessened{})
}

// startLess is start with walls left out.
func startLess(tb testing.TB, set map[string]any, less lessened) *plugin {
	tb.Helper()
	cfg := map[string]any{"python": interpreterPath(tb), "waiting_children": 2}
	for k, v := range set {
		cfg[k] = v
	}
	if cfg["waiting_children_most"] == nil { // else what is counted depends on the machine's load
		cfg["waiting_children_most"] = cfg["waiting_children"]
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	p := newPlugin()
	p.less = less
	p.log = slog.New(slog.NewTextHandler(testWriter{tb}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	warnings, err := p.Configure(tb.Context(), executor.Config{JSON: text})
	if err != nil {
		tb.Fatal(err)
	}
	for _, w := range warnings {
		tb.Log(w)
	}
	tb.Cleanup(p.close)
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	for err := p.CheckHealth(ctx, true); err != nil; err = p.CheckHealth(ctx, true) {
		if ctx.Err() != nil { // it gives up after some seconds, which a busy machine may need
			tb.Fatal(err)
		}
	}
	return p
}

type testWriter struct{ tb testing.TB }

func (w testWriter) Write(b []byte) (int, error) {
	w.tb.Logf("%s", bytes.TrimSpace(b))
	return len(b), nil
}

// outcome is what a submission came to.
type outcome struct {
	executor.Result
	err            error
	stdout, stderr string
	figure         []byte
}

// sink keeps what a run writes.
type sink struct {
	mu             sync.Mutex
	stdout, stderr bytes.Buffer
	figure         []byte
	artifacts      uint64
	ceiling        int
	over           func()
	seen           func() // at each write
}

type sinkWriter struct {
	s  *sink
	to *bytes.Buffer
}

func (w sinkWriter) Write(p []byte) (int, error) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if w.to.Len() < 1<<20 {
		w.to.Write(p)
	}
	if w.s.seen != nil {
		w.s.seen()
	}
	if w.s.ceiling -= len(p); w.s.ceiling < 0 {
		w.s.over()
	}
	return len(p), nil
}

func (s *sink) Stdout() io.Writer { return sinkWriter{s, &s.stdout} }
func (s *sink) Stderr() io.Writer { return sinkWriter{s, &s.stderr} }
func (s *sink) Artifact(_, _ string, data []byte) error {
	if uint64(len(data)) > s.artifacts {
		return errors.New("too large")
	}
	s.figure = bytes.Clone(data)
	return nil
}

// granted are limits like the gateway's, with everything allowed.
func granted() executor.Grant {
	return executor.Grant{
		Grants: []string{"import:*", "builtin:*"},
		Limits: executor.Limits{
			Wall: 20 * time.Second, CPU: 20 * time.Second, MemoryBytes: 1 << 30, OutputCeilingBytes: 16 << 20,
			ScratchBytes: 16 << 20, ArtifactBytes: 512 << 10, Threads: 16,
		},
	}
}

// run submits code as the SDK would: parse, approve, run, close.
func run(tb testing.TB, p *plugin, code string, g executor.Grant) outcome {
	tb.Helper()
	return runSource(tb.Context(), p, executor.Source{Language: languageID, Code: []byte(code), ValueWanted: true}, g)
}

func runSource(ctx context.Context, p *plugin, src executor.Source, g executor.Grant) outcome {
	prog, err := p.Parse(ctx, src)
	if err != nil {
		return outcome{err: err}
	}
	defer prog.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(g.Limits.Wall, func() { cancel(executor.ErrWall) })
	defer timer.Stop()
	s := &sink{ceiling: 16 << 20, artifacts: g.Limits.ArtifactBytes, over: func() { cancel(executor.ErrOutput) }}
	res, err := prog.Run(ctx, g, s)
	s.mu.Lock()
	defer s.mu.Unlock()
	return outcome{Result: res, err: err, stdout: s.stdout.String(), stderr: s.stderr.String(), figure: s.figure}
}

// status is the outcome's status as the SDK tells it.
func (o outcome) status() executor.Status {
	if o.err != nil {
		return executor.StatusOf(o.err)
	}
	return o.Status
}
