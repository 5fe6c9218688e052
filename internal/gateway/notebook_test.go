package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// notebook is a plugin that keeps sessions: each remembers the words "+word" of
// its cells, and "all" prints them. "wait" runs until it is let go, interrupted
// or stopped; "crash" takes the process down; "drop" loses the session.
type notebook struct {
	plugin
	none bool // keeps no sessions

	mu        sync.Mutex
	process   *process
	opened    int
	options   []executor.SessionOptions
	memory    uint64
	full      error
	listError error
	stubborn  bool // does not heed an interrupt
	silent    bool // says nothing of the session's state
	waiting   chan string
}

// process is one life of the plugin.
type process struct {
	gone  chan struct{}
	pages map[string]*page
}

type page struct {
	words     string
	interrupt chan struct{}
	ended     chan struct{}
}

func newNotebook() (*notebook, *world) {
	w := newWorld()
	n := &notebook{plugin: plugin{tree: w.plugin.tree, result: w.plugin.result}, waiting: make(chan string, 8)}
	n.restart()
	w.cfg.Executors = n
	w.cfg.Sessions = gateway.SessionLimits{Max: 4, MaxPerOwner: 3, Idle: time.Hour}
	w.cfg.Limits.Default.StdoutBytes = 1 << 10
	return n, w
}

func (n *notebook) restart() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process != nil {
		close(n.process.gone)
	}
	n.process = &process{gone: make(chan struct{}), pages: map[string]*page{}}
}

func (n *notebook) Find(tool string) (gateway.Target, error) {
	if tool != "python" {
		return nil, gateway.ErrUnknownTool
	}
	return n, nil
}

func (n *notebook) KeepsSessions() bool { return !n.none }

func (n *notebook) OpenSession(_ context.Context, o executor.SessionOptions) (gateway.Kept, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.full != nil {
		return nil, n.full
	}
	n.opened++
	n.options = append(n.options, o)
	n.process.pages[o.ID] = newPage("")
	return &keptPage{n: n, p: n.process, id: o.ID}, nil
}

func newPage(words string) *page {
	return &page{words: words, interrupt: make(chan struct{}, 1), ended: make(chan struct{})}
}

func (n *notebook) Sessions(context.Context) (list []executor.SessionInfo, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id := range n.process.pages {
		list = append(list, executor.SessionInfo{ID: id, MemoryBytes: n.memory})
	}
	return list, n.listError
}

func (n *notebook) held() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.process.pages)
}

type keptPage struct {
	n  *notebook
	p  *process
	id string
}

func (k *keptPage) ID() string            { return k.id }
func (k *keptPage) Gone() <-chan struct{} { return k.p.gone }

func (k *keptPage) page() (*page, error) {
	k.n.mu.Lock()
	defer k.n.mu.Unlock()
	p := k.p.pages[k.id]
	if k.p != k.n.process || p == nil {
		return nil, fmt.Errorf("no page: %w", executor.ErrSessionLost)
	}
	return p, nil
}

func (k *keptPage) Submit(_ context.Context, src executor.Source) (gateway.Submission, error) {
	k.n.mu.Lock()
	k.n.sources = append(k.n.sources, src)
	err := k.n.submitErr
	k.n.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if _, err := k.page(); err != nil {
		if k.p == k.n.process {
			lost := &executor.Result{Status: executor.StatusSessionLost, SessionState: executor.SessionLost}
			return &cell{submission: submission{p: &plugin{ended: lost}}}, nil
		}
		return nil, err
	}
	return &cell{submission: submission{p: &k.n.plugin}, k: k, code: string(src.Code)}, nil
}

func (k *keptPage) Fork(_ context.Context, newID string) (gateway.Kept, error) {
	p, err := k.page()
	if err != nil {
		return nil, err
	}
	k.n.mu.Lock()
	defer k.n.mu.Unlock()
	k.p.pages[newID] = newPage(p.words)
	return &keptPage{n: k.n, p: k.p, id: newID}, nil
}

func (k *keptPage) Reset(context.Context) error {
	p, err := k.page()
	if err == nil {
		p.words = ""
	}
	return err
}

func (k *keptPage) Interrupt(context.Context) error {
	p, err := k.page()
	if err == nil && !k.n.stubborn {
		p.interrupt <- struct{}{}
	}
	return err
}

func (k *keptPage) Close(context.Context) error {
	p, err := k.page()
	if err != nil {
		return err
	}
	k.n.mu.Lock()
	defer k.n.mu.Unlock()
	delete(k.p.pages, k.id)
	close(p.ended)
	return nil
}

type cell struct {
	submission
	k    *keptPage
	code string
}

func (c *cell) Run(ctx context.Context, _ executor.Grant, out func(executor.Stream, []byte)) (executor.Result, error) {
	p, err := c.k.page()
	if err != nil {
		return executor.Result{}, err
	}
	kept := executor.Result{Status: executor.StatusOK, SessionState: executor.SessionKept}
	if c.k.n.silent {
		kept.SessionState = ""
	}
	verb, word, _ := strings.Cut(c.code, "+")
	switch verb {
	case "":
		p.words += word
	case "all":
		out(executor.Stdout, []byte(p.words))
	case "crash":
		c.k.n.restart()
		return executor.Result{}, gateway.ErrPluginDied
	case "drop":
		_ = c.k.Close(ctx)
		kept.Status, kept.SessionState = executor.StatusCrashed, executor.SessionLost
	case "slip": // the session is lost after the cell, with nobody told
		_ = c.k.Close(ctx)
	case "wait":
		return c.wait(ctx, p, kept)
	case "deaf": // runs until its session is closed, whatever it is asked
		c.k.n.waiting <- c.code
		<-p.ended
		kept.Status, kept.SessionState = executor.StatusSessionLost, executor.SessionLost
	}
	return kept, nil
}

func (c *cell) wait(ctx context.Context, p *page, kept executor.Result) (executor.Result, error) {
	c.k.n.waiting <- c.code
	select {
	case <-p.interrupt:
		kept.Status = executor.StatusRuntimeError
		kept.Problem = &executor.Problem{Type: "KeyboardInterrupt"}
	case <-p.ended:
		kept.Status, kept.SessionState = executor.StatusCancelled, executor.SessionLost
	case <-c.k.n.hold:
	case <-ctx.Done():
		kept.Status, kept.SessionState = executor.StatusCancelled, executor.SessionRolledBack
		if c.k.n.silent {
			kept.SessionState = ""
		}
	}
	return kept, nil
}
