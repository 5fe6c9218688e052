package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// ServeInWorkers is Serve for executors whose interpreter lives in Go: each
// submission is parsed and run in a process of its own, this program started
// again, so that it can be ended at any time, has a bound on its memory and on
// its processor time, and leaves nothing to the next. It must be called once,
// first thing in main.
//
// e is used in the workers: what Parse and Run keep in it does not outlive a
// submission. Configure is called in each of them, and once beside them. An
// executor that keeps sessions is served without them.
func ServeInWorkers(e executor.Executor) {
	if os.Getenv(envWorker) != "" {
		serveWorker(e)
	}
	w := newWorkers(e)
	if c, ok := e.(executor.Configurer); ok {
		Serve(&configuredWorkers{workers: w, own: c})
		return
	}
	Serve(w)
}

// workers is an executor that has others do the work.
type workers struct {
	about executor.Description
	warm  int // workers that wait

	mu       sync.Mutex
	cfg      *executor.Config
	idle     []*worker
	starting sync.WaitGroup
	onTheWay int
	over     bool
}

// end ends the workers that wait. In a plugin they end with it.
func (w *workers) end() {
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	w.starting.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.idle {
		one.end()
	}
	w.idle = nil
}

const mostWarm = 4

func newWorkers(e executor.Executor) *workers {
	d := e.Describe()
	warm := mostWarm
	if d.Capacity.MaxConcurrent > 0 {
		warm = min(warm, int(d.Capacity.MaxConcurrent))
	}
	return &workers{about: d, warm: warm}
}

// configuredWorkers is workers of an executor that takes settings.
type configuredWorkers struct {
	*workers
	own executor.Configurer
}

// Configure implements executor.Configurer.
func (w *configuredWorkers) Configure(ctx context.Context, c executor.Config) ([]string, error) {
	warnings, err := w.own.Configure(ctx, c)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cfg = &c
	return warnings, nil
}

// Describe implements executor.Executor.
func (w *workers) Describe() executor.Description { return w.about }

// Parse implements executor.Executor.
func (w *workers) Parse(ctx context.Context, src executor.Source) (executor.Program, error) {
	one, err := w.take(ctx)
	if err != nil {
		return nil, err
	}
	stop := one.guard(executor.Limits{MemoryBytes: src.ParseLimits.MemoryBytes})
	sub, err := one.client.Submit(ctx, src)
	stop()
	switch {
	case err != nil:
		err = one.fault(ctx, err)
		one.end()
		return nil, err
	case sub.Ended() != nil:
		w.putBack(one)
		return nil, errorOf(*sub.Ended())
	}
	return &workerProgram{workers: w, worker: one, sub: sub}, nil
}

// take gives a worker that waits, or a new one, and sees to the next.
func (w *workers) take(ctx context.Context) (*worker, error) {
	w.mu.Lock()
	var one *worker
	for one == nil && len(w.idle) > 0 {
		last := len(w.idle) - 1
		one, w.idle = w.idle[last], w.idle[:last]
		select {
		case <-one.gone:
			one = nil
		default:
		}
	}
	cfg := w.cfg
	w.mu.Unlock()
	defer w.refill()
	if one != nil {
		return one, nil
	}
	return startWorker(ctx, cfg)
}

// refill starts workers beside the requests until enough of them wait.
func (w *workers) refill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over || len(w.idle)+w.onTheWay >= w.warm {
		return
	}
	w.onTheWay++
	cfg := w.cfg
	w.starting.Go(func() {
		one, err := startWorker(context.Background(), cfg)
		w.mu.Lock()
		w.onTheWay--
		if err == nil {
			w.idle = append(w.idle, one)
		}
		w.mu.Unlock()
		if err == nil {
			w.refill()
		}
	})
}

// putBack keeps a worker in which nothing has run.
func (w *workers) putBack(one *worker) {
	w.mu.Lock()
	full := len(w.idle) >= w.warm
	if !full {
		w.idle = append(w.idle, one)
	}
	w.mu.Unlock()
	if full {
		one.end()
	}
}

// fault says why a worker did not answer.
func (w *worker) fault(ctx context.Context, err error) error {
	select {
	case <-w.fat:
		return executor.ErrMemory
	default:
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case <-w.gone:
	case <-time.After(time.Second):
		return fmt.Errorf("ask a worker: %w", err)
	}
	state := w.cmd.ProcessState.String()
	words := w.words.String()
	switch {
	case strings.Contains(words, "out of memory") || strings.Contains(words, "cannot allocate memory") || strings.Contains(words, "stack overflow"):
		return executor.ErrMemory
	case strings.Contains(state, "CPU time limit"):
		return executor.ErrCPU
	}
	first, _, _ := bytes.Cut([]byte(words), []byte("\n"))
	return fmt.Errorf("a worker ended (%s): %.200s", state, first)
}

// errorOf is the error that makes the kit give this result.
func errorOf(r executor.Result) error {
	problem := executor.Problem{Type: "Error"}
	if r.Problem != nil {
		problem = *r.Problem
	}
	switch r.Status {
	case executor.StatusCompileError:
		return &executor.CompileError{Problem: problem}
	case executor.StatusTreeTooLarge:
		return executor.ErrTreeTooLarge
	case executor.StatusWallLimit:
		return executor.ErrWall
	case executor.StatusMemoryLimit:
		return executor.ErrMemory
	case executor.StatusCancelled:
		return executor.ErrCancelled
	case executor.StatusOverloaded:
		return executor.ErrOverloaded
	}
	return fmt.Errorf("a worker ended the submission %s", r.Status)
}

// workerProgram is a program that a worker has parsed.
type workerProgram struct {
	workers *workers
	worker  *worker
	sub     *Submission
	ran     bool
}

// Tree implements executor.Program.
func (p *workerProgram) Tree() executor.Tree { return p.sub.Tree() }

// endAfter is how long a worker has to end a run by itself.
const endAfter = 150 * time.Millisecond

// Run implements executor.Program. Output is bounded on this side.
func (p *workerProgram) Run(ctx context.Context, g executor.Grant, out executor.Output) (executor.Result, error) {
	p.ran = true
	before := processorOf(p.worker.cmd.Process.Pid)
	stop := p.worker.guard(g.Limits)
	defer stop()
	unhook := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(endAfter):
			_ = p.worker.cmd.Process.Kill()
		case <-p.worker.gone:
		}
	})
	defer unhook()
	g.Limits.StdoutBytes, g.Limits.StderrBytes, g.Limits.OutputCeilingBytes, g.Limits.Wall = 0, 0, 0, 0
	res, err := p.sub.Run(ctx, g, func(stream executor.Stream, chunk []byte) {
		if stream == executor.Stderr {
			_, _ = out.Stderr().Write(chunk)
			return
		}
		_, _ = out.Stdout().Write(chunk)
	})
	if err == nil && ctx.Err() != nil && res.Status == executor.StatusCancelled {
		err = context.Cause(ctx)
	}
	if err != nil {
		if !errors.Is(err, context.Cause(ctx)) || ctx.Err() == nil {
			err = p.worker.fault(ctx, err)
		}
		return executor.Result{Usage: p.worker.lastUsage(before)}, err
	}
	seen := p.worker.usage(before)
	res.Usage.CPU, res.Usage.MaxRSSBytes = seen.CPU, seen.MaxRSSBytes
	for _, a := range res.Artifacts {
		if err := out.Artifact(a.MediaType, a.Name, a.Data); err != nil {
			res.Notes = append(res.Notes, "an artifact was left out: "+err.Error())
		}
	}
	res.Artifacts = nil
	return res, nil
}

// Close implements executor.Program.
func (p *workerProgram) Close() error {
	if !p.ran {
		p.sub.Deny("", nil)
		p.workers.putBack(p.worker)
		return nil
	}
	p.sub.Close()
	p.worker.end()
	return nil
}
