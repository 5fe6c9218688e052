package executortest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// notebook is a toy that keeps sessions. Each of its faults breaks one rule.
type notebook struct {
	toy
	mu   sync.Mutex
	open map[string]*page
}

type page struct {
	kept      string
	cells     uint64
	idle      time.Duration
	since     time.Time
	used      time.Time
	interrupt chan struct{} // of the running cell
}

const notebookMax = 5

func newNotebook(fault string) *notebook {
	return &notebook{toy: toy{fault: fault}, open: map[string]*page{}}
}

func (n *notebook) Describe() executor.Description {
	d := n.toy.Describe()
	d.Capacity.MaxSessions = notebookMax
	d.Languages[0].Samples = append(d.Languages[0].Samples,
		executor.Sample{Kind: "keep", Code: []byte("keep 41")},
		executor.Sample{Kind: "recall", Code: []byte("recall x"), WantStdout: []byte("41")})
	return d
}

// page gives a session that has not ended.
func (n *notebook) page(id string) *page {
	p := n.open[id]
	if p == nil || (p.idle > 0 && p.interrupt == nil && time.Since(p.used) > p.idle && !n.is("never idle")) {
		return nil
	}
	return p
}

func (n *notebook) add(id string, p page) (executor.SessionInfo, error) {
	if len(n.open) >= notebookMax && !n.is("no cap") {
		return executor.SessionInfo{}, executor.ErrTooManySessions
	}
	p.since, p.used, p.cells, p.interrupt = time.Now(), time.Now(), 0, nil
	n.open[id] = &p
	return n.info(id, &p), nil
}

func (n *notebook) info(id string, p *page) executor.SessionInfo {
	return executor.SessionInfo{
		ID: id, Language: "toy", Age: time.Since(p.since), Idle: time.Since(p.used), Cells: p.cells, Busy: p.interrupt != nil, MemoryBytes: 1,
	}
}

func (n *notebook) OpenSession(_ context.Context, o executor.SessionOptions) (executor.SessionInfo, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.add(o.ID, page{idle: o.Idle})
}

func (n *notebook) CloseSession(_ context.Context, id string) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	existed := n.page(id) != nil
	if !n.is("never closes") {
		delete(n.open, id)
	}
	return existed, nil
}

func (n *notebook) ListSessions(context.Context) ([]executor.SessionInfo, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []executor.SessionInfo
	for id := range n.open {
		if p := n.page(id); p != nil && !n.is("lists nothing") {
			list = append(list, n.info(id, p))
		}
	}
	return list, nil
}

func (n *notebook) ForkSession(_ context.Context, id, newID string) (executor.SessionInfo, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.page(id)
	switch {
	case p == nil:
		return executor.SessionInfo{}, executor.ErrSessionUnknown
	case n.is("forks nothing"):
		return n.add(newID, page{})
	}
	return n.add(newID, *p)
}

func (n *notebook) ResetSession(_ context.Context, id string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.page(id)
	if p == nil {
		return executor.ErrSessionUnknown
	}
	if !n.is("resets nothing") {
		p.kept = ""
	}
	return nil
}

func (n *notebook) InterruptSession(_ context.Context, id string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.page(id)
	if p == nil {
		return executor.ErrSessionUnknown
	}
	if p.interrupt != nil && !n.is("not interrupted") {
		close(p.interrupt)
		p.interrupt = make(chan struct{})
	}
	return nil
}

func (n *notebook) Parse(ctx context.Context, src executor.Source) (executor.Program, error) {
	if src.SessionID == "" {
		return n.toy.Parse(ctx, src)
	}
	n.mu.Lock()
	p := n.page(src.SessionID)
	n.mu.Unlock()
	if p == nil {
		return nil, executor.ErrSessionLost
	}
	prog, err := n.toy.Parse(ctx, src)
	if err != nil {
		return nil, err
	}
	verb, word, _ := strings.Cut(string(src.Code), " ")
	return &executor.Prog{Doc: prog.Tree(), Do: func(ctx context.Context, _ executor.Grant, out executor.Output) (executor.Result, error) {
		return n.cell(ctx, out, p, verb, word)
	}}, nil
}

func (n *notebook) cell(ctx context.Context, out executor.Output, p *page, verb, word string) (executor.Result, error) {
	n.mu.Lock()
	interrupt := make(chan struct{})
	p.interrupt = interrupt
	p.cells++
	before := p.kept
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		p.interrupt, p.used = nil, time.Now()
		n.mu.Unlock()
	}()
	switch verb {
	case "keep":
		n.mu.Lock()
		p.kept = word
		for _, other := range n.open {
			if n.is("one for all") {
				other.kept = word
			}
		}
		n.mu.Unlock()
	case "recall":
		fmt.Fprint(out.Stdout(), before)
		if n.is("forgets") {
			p.kept = ""
		}
	case "loop":
		select {
		case <-interrupt:
			return executor.Result{}, &executor.RuntimeError{Problem: executor.Problem{Type: "KeyboardInterrupt", Message: "stopped"}}
		case <-ctx.Done():
			if n.is("loses the state") {
				p.kept = ""
			}
			return executor.Result{SessionState: executor.SessionRolledBack}, ctx.Err()
		}
	default:
		return n.run(ctx, out, verb, word)
	}
	return executor.Result{}, nil
}

func TestNotebookPasses(t *testing.T) {
	if failed := failures(t, newNotebook("")); len(failed) > 0 {
		t.Errorf("failed: %q", failed)
	}
}

func TestRunOfANotebook(t *testing.T) { Run(t, newNotebook("")) }

func TestBrokenNotebooksAreCaught(t *testing.T) {
	for fault, want := range map[string]string{
		"forgets": "T01", "one for all": "T02", "no cap": "T03", "lists nothing": "T04", "never closes": "T05", "never idle": "T06",
		"loses the state": "T07", "forks nothing": "T09", "resets nothing": "T10", "not interrupted": "T11",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			if failed := failures(t, newNotebook(fault), want); len(failed) != 1 {
				t.Errorf("%s did not see it", want)
			}
		})
	}
}
