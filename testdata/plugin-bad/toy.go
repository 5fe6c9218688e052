package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// toy runs a language of one verb and one word.
type toy struct {
	fault fault
	n     atomic.Int64 // a state that outlives submissions

	mu     sync.Mutex
	leaked []*os.File
}

func (y *toy) is(name string) bool { return y.fault.is(name) }

// Describe implements executor.Executor.
func (y *toy) Describe() executor.Description {
	d := executor.Description{
		Name: "bad", Version: "1.0.0",
		Languages: []executor.Language{{ID: "toy", Version: "1", TreeSchema: "toy/1", Schema: executor.IndexSchema("toy/1", "toy", "verbs", "words"), Samples: samples()}},
		Tools: []executor.Tool{{
			Name: "toy", Language: "toy", Description: "plays", SourceArgument: "code",
			Parameters: []byte(`{"type":"object","properties":{"code":{"type":"string"}}}`),
		}},
		Capacity: executor.Capacity{MaxConcurrent: 4, MaxSourceBytes: 1 << 20, MaxTreeBytes: 2 << 20},
	}
	switch string(y.fault) {
	case "odd-version":
		d.Version = "one"
	case "no-capacity":
		d.Capacity.MaxConcurrent = 0
	case "tool-of-nothing":
		d.Tools[0].SourceArgument = "text"
	case "lacks-everything":
		d.Languages[0].Lacks = map[string]string{"canary": "no names"}
	case "broken-schema":
		d.Languages[0].Schema = []byte(`{"type":"thing"}`)
	case "open-tree":
		d.Languages[0].Schema = []byte(`{"type":"object"}`)
	case "open-settings":
		d.ConfigSchema = []byte(`{"type":"object"}`)
	}
	return d
}

func samples() []executor.Sample {
	return []executor.Sample{
		{Kind: "ok", Code: []byte("say hi"), WantStdout: []byte("hi"), WantValue: "2"},
		{Kind: "syntax_error", Code: []byte("wrong")},
		{Kind: "runtime_error", Code: []byte("raise x")},
		{Kind: "forever", Code: []byte("loop x")},
		{Kind: "flood", Code: []byte("flood x")},
		{Kind: "alloc", Code: []byte("alloc x")},
		{Kind: "effect", Code: []byte("set x")},
		{Kind: "probe", Code: []byte("get x"), WantStdout: []byte("0")},
		{Kind: "spawn", Code: []byte("spawn x")},
		{Kind: "large", Code: []byte("say " + strings.Repeat("<", 120_000))},
		{Kind: "canary", Code: []byte("say canary_name_of_the_toy"), WantInTree: []string{"canary_name_of_the_toy"}},
	}
}

// Configure implements executor.Configurer.
func (y *toy) Configure(_ context.Context, c executor.Config) ([]string, error) {
	if string(c.JSON) != "{}" || y.is("refuses-settings") {
		return nil, errors.New("not these settings")
	}
	return []string{"this plugin breaks a rule"}, nil
}

// Parse implements executor.Executor.
func (y *toy) Parse(_ context.Context, src executor.Source) (executor.Program, error) {
	verb, word, found := strings.Cut(string(src.Code), " ")
	if bytes.ContainsRune(src.Code, 0) {
		switch {
		case y.is("odd-text-kills"):
			os.Exit(3)
		case y.is("odd-text-internal"):
			return nil, errors.New("what is this?")
		}
	}
	if y.is("deep-text-kills") && bytes.Contains(src.Code, []byte("[[1]]")) {
		os.Exit(3)
	}
	if !found {
		return nil, y.syntaxError()
	}
	tree, err := y.tree(verb, word, src.Code)
	if err != nil {
		return nil, err
	}
	return &executor.Prog{Doc: tree,
		Do: func(ctx context.Context, _ executor.Grant, out executor.Output) (executor.Result, error) {
			return y.run(ctx, out, verb, word)
		}}, nil
}

func (y *toy) tree(verb, word string, code []byte) (executor.Tree, error) {
	x := executor.NewIndex("verbs", "words")
	x.Add("verbs", verb, executor.Place(1, 0, 1, len(verb)))
	switch string(y.fault) {
	case "canary":
		word = "?"
	case "random-tree":
		x.Add("words", strconv.FormatInt(y.n.Add(1), 10), executor.Place(1, 0, 1, 1))
	case "tree-off-schema":
		x.Add("strangers", "x", executor.Place(1, 0, 1, 1))
	case "tree-of-another":
		code = append([]byte{' '}, code...)
	case "runs-at-parse":
		y.step(verb)
	}
	x.Add("words", word, executor.Place(1, 0, 1, len(word)))
	return x.Tree(executor.Language{ID: "toy", TreeSchema: "toy/1", Grammar: "1"}, executor.Source{Code: code})
}

func (y *toy) syntaxError() error {
	if y.is("syntax-is-fault") {
		return errors.New("no word")
	}
	e := &executor.CompileError{Problem: executor.Problem{Type: "SyntaxError", Message: "no word", Line: 1}}
	if y.is("syntax-no-line") {
		e.Line = 0
	}
	return e
}

func (y *toy) step(verb string) {
	if verb == "set" {
		y.n.Add(1)
	}
}

func (y *toy) run(ctx context.Context, out executor.Output, verb, word string) (executor.Result, error) {
	if y.is("leaks") {
		y.leak()
	}
	switch verb {
	case "say":
		fmt.Fprint(out.Stdout(), word)
		return executor.Result{Value: strconv.Itoa(len(word)), HasValue: true}, nil
	case "raise":
		return executor.Result{}, y.raise(word)
	case "loop":
		return y.loop(ctx)
	case "flood":
		return executor.Result{}, flood(ctx, out)
	case "alloc":
		return executor.Result{}, y.alloc()
	case "get":
		fmt.Fprint(out.Stdout(), y.n.Load())
	case "spawn":
		return executor.Result{}, y.spawn()
	default:
		if y.is("keeps-state") {
			y.step(verb)
		}
	}
	return executor.Result{}, nil
}

func flood(ctx context.Context, out executor.Output) error {
	for range 40_000 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprint(out.Stdout(), strings.Repeat("y", 4000))
	}
	return nil
}

func (y *toy) alloc() error {
	if y.is("no-memory-limit") {
		return nil
	}
	return executor.ErrMemory
}

func (y *toy) raise(word string) error {
	if y.is("raise-is-fault") {
		return errors.New(word)
	}
	e := &executor.RuntimeError{Problem: executor.Problem{Type: "Error", Message: word, Trace: "line 1"}}
	if y.is("host-path") {
		e.Trace = "File /usr/lib/toy/main, line 1"
	}
	return e
}

func (y *toy) loop(ctx context.Context) (executor.Result, error) {
	if y.is("deaf-to-wall") || y.is("deaf-to-cancel") {
		time.Sleep(6 * time.Second)
		return executor.Result{}, nil
	}
	<-ctx.Done()
	return executor.Result{}, ctx.Err()
}

// spawn starts a process, and ends it as it must.
func (y *toy) spawn() error {
	cmd := sleeper()
	if err := cmd.Start(); err != nil {
		return err
	}
	if y.is("leaves-process") {
		return nil
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return nil
}

func (y *toy) leak() {
	y.mu.Lock()
	defer y.mu.Unlock()
	if f, err := os.Open("/dev/null"); err == nil {
		y.leaked = append(y.leaked, f)
	}
}
