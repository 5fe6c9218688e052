package rest_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// notebook is a python that keeps sessions: "+word" remembers a word, "all"
// gives what is remembered as the value, "say text" prints, "raise" fails, "wait"
// runs until it is stopped, "kill" is rolled back, "gone" loses the session.
type notebook struct {
	target
	mu      sync.Mutex
	pages   map[string]string
	waiting chan struct{}
	stopped chan struct{}
	full    error
	sources []executor.Source
}

func (n *notebook) KeepsSessions() bool { return true }

func (n *notebook) OpenSession(_ context.Context, o executor.SessionOptions) (gateway.Kept, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.full != nil {
		return nil, n.full
	}
	n.pages[o.ID] = ""
	return &leaf{n: n, id: o.ID}, nil
}

func (n *notebook) Sessions(context.Context) (list []executor.SessionInfo, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id := range n.pages {
		list = append(list, executor.SessionInfo{ID: id, MemoryBytes: 5000})
	}
	return list, nil
}

// leaf is one session of a notebook.
type leaf struct {
	n  *notebook
	id string
}

func (k *leaf) ID() string                      { return k.id }
func (k *leaf) Gone() <-chan struct{}           { return nil }
func (k *leaf) Interrupt(context.Context) error { return nil } // not heeded: the gateway ends the cell

func (k *leaf) Close(context.Context) error {
	k.n.mu.Lock()
	defer k.n.mu.Unlock()
	delete(k.n.pages, k.id)
	return nil
}

func (k *leaf) Reset(context.Context) error {
	k.n.mu.Lock()
	defer k.n.mu.Unlock()
	k.n.pages[k.id] = ""
	return nil
}

func (k *leaf) Fork(_ context.Context, newID string) (gateway.Kept, error) {
	k.n.mu.Lock()
	defer k.n.mu.Unlock()
	k.n.pages[newID] = k.n.pages[k.id]
	return &leaf{n: k.n, id: newID}, nil
}

func (k *leaf) Submit(_ context.Context, src executor.Source) (gateway.Submission, error) {
	k.n.mu.Lock()
	k.n.sources = append(k.n.sources, src)
	k.n.mu.Unlock()
	verb, word, _ := strings.Cut(string(src.Code), " ")
	return &submission{run: func(ctx context.Context, _ executor.Grant, out func(executor.Stream, []byte)) (executor.Result, error) {
		return k.run(ctx, out, verb, word)
	}}, nil
}

func (k *leaf) run(ctx context.Context, out func(executor.Stream, []byte), verb, word string) (executor.Result, error) {
	k.n.mu.Lock()
	defer k.n.mu.Unlock()
	res := executor.Result{Status: executor.StatusOK, SessionState: executor.SessionKept}
	switch verb {
	case "all":
		res.Value, res.HasValue = k.n.pages[k.id], true
	case "say":
		out(executor.Stdout, []byte(word))
	case "raise":
		res.Status, res.Problem = executor.StatusRuntimeError, &executor.Problem{Type: "NameError", Message: "name 'x' is not defined"}
	case "kill":
		res.Status, res.SessionState = executor.StatusWallLimit, executor.SessionRolledBack
	case "gone":
		res.Status, res.SessionState, res.Signal = executor.StatusCrashed, executor.SessionLost, "SIGSEGV"
	case "wait":
		k.n.waiting <- struct{}{}
		k.n.mu.Unlock()
		<-ctx.Done()
		k.n.mu.Lock()
		k.n.stopped <- struct{}{}
		res.Status, res.SessionState = executor.StatusCancelled, executor.SessionRolledBack
	default:
		k.n.pages[k.id] += strings.TrimPrefix(verb, "+")
	}
	return res, nil
}

type keeping []gateway.Target

func (ts keeping) Targets() []gateway.Target { return ts }

func (ts keeping) Find(name string) (gateway.Target, error) {
	for _, t := range ts {
		if t.Tool().Name == name || t.Language().ID == name {
			return t, nil
		}
	}
	return nil, gateway.ErrUnknownTool
}

func newKeepingLab(t *testing.T) (*lab, *notebook) {
	t.Helper()
	n := &notebook{pages: map[string]string{}, waiting: make(chan struct{}, 1), stopped: make(chan struct{}, 1)}
	l := newLab(t, func(c *gateway.Config) {
		old := c.Executors.(targets)
		n.target = *old[1]
		n.tool.Description = "Times out after {wall} seconds."
		c.Executors = keeping{old[0], n}
		c.Sessions = gateway.SessionLimits{Max: 4, MaxPerOwner: 3, Idle: time.Hour}
	})
	return l, n
}
