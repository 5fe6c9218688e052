package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/sluice-gateway/sluice/executor"
)

// keeping is a plugin that keeps sessions, in a language of one verb and one
// word: "add w" remembers, "all _" gives what is remembered, "hang _" runs until
// it is stopped, "die _" ends the process.
type keeping struct {
	mu    sync.Mutex
	pages map[string]*page
}

type page struct {
	words     string
	interrupt chan struct{}
}

// Describe implements executor.Executor.
func (*keeping) Describe() executor.Description {
	return executor.Description{
		Name: "keeping", Version: "0.0.1",
		Languages: []executor.Language{{ID: "python", Version: "1", TreeSchema: "keeping/1", Grammar: "1"}},
		Tools: []executor.Tool{{
			Name: "stateful_python_code_exec", Language: "python", Description: "Keeps for {wall} seconds.",
			Parameters: []byte(`{"type":"object"}`), SourceArgument: "code", Stateful: true,
		}},
		Capacity: executor.Capacity{MaxConcurrent: 64, MaxSessions: 64},
	}
}

// OpenSession implements executor.SessionKeeper.
func (k *keeping) OpenSession(_ context.Context, o executor.SessionOptions) (executor.SessionInfo, error) {
	return k.add(o.ID, ""), nil
}

func (k *keeping) add(id, words string) executor.SessionInfo {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pages[id] = &page{words: words, interrupt: make(chan struct{}, 1)}
	return executor.SessionInfo{ID: id, Language: "python"}
}

func (k *keeping) page(id string) *page {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pages[id]
}

// CloseSession implements executor.SessionKeeper.
func (k *keeping) CloseSession(_ context.Context, id string) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, existed := k.pages[id]
	delete(k.pages, id)
	return existed, nil
}

// ListSessions implements executor.SessionKeeper.
func (k *keeping) ListSessions(context.Context) (list []executor.SessionInfo, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for id := range k.pages {
		list = append(list, executor.SessionInfo{ID: id, Language: "python", MemoryBytes: 4096})
	}
	return list, nil
}

// ForkSession implements executor.SessionKeeper.
func (k *keeping) ForkSession(_ context.Context, id, newID string) (executor.SessionInfo, error) {
	p := k.page(id)
	if p == nil {
		return executor.SessionInfo{}, executor.ErrSessionUnknown
	}
	return k.add(newID, p.words), nil
}

// ResetSession implements executor.SessionKeeper.
func (k *keeping) ResetSession(_ context.Context, id string) error {
	p := k.page(id)
	if p == nil {
		return executor.ErrSessionUnknown
	}
	p.words = ""
	return nil
}

// InterruptSession implements executor.SessionKeeper.
func (k *keeping) InterruptSession(_ context.Context, id string) error {
	p := k.page(id)
	if p == nil {
		return executor.ErrSessionUnknown
	}
	select {
	case p.interrupt <- struct{}{}:
	default:
	}
	return nil
}

// Parse implements executor.Executor.
func (k *keeping) Parse(_ context.Context, src executor.Source) (executor.Program, error) {
	p := &page{interrupt: make(chan struct{})}
	if src.SessionID != "" {
		if p = k.page(src.SessionID); p == nil {
			return nil, executor.ErrSessionLost
		}
	}
	verb, word, _ := strings.Cut(string(src.Code), " ")
	tree := fmt.Sprintf(`{"schema":"keeping/1","language":"python","code":{"sha256":"%x"},"ast":{}}`, src.Digest())
	return &executor.Prog{
		Doc: executor.Tree{Schema: "keeping/1", JSON: []byte(tree), Nodes: 1, Depth: 1},
		Do: func(ctx context.Context, _ executor.Grant, out executor.Output) (executor.Result, error) {
			return p.run(ctx, out, verb, word)
		},
	}, nil
}

func (p *page) run(ctx context.Context, out executor.Output, verb, word string) (executor.Result, error) {
	switch verb {
	case "add":
		p.words += word
	case "all":
		return executor.Result{Value: p.words, HasValue: true}, nil
	case "hang":
		fmt.Fprint(out.Stdout(), "hanging\n")
		select {
		case <-p.interrupt:
			return executor.Result{}, &executor.RuntimeError{Problem: executor.Problem{Type: "KeyboardInterrupt"}}
		case <-ctx.Done():
			return executor.Result{SessionState: executor.SessionRolledBack}, ctx.Err()
		}
	case "die":
		os.Exit(3)
	}
	return executor.Result{}, nil
}
