package executortest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// toy runs a language of one verb and one word. Each of its faults breaks one
// rule of the contract.
type toy struct {
	fault string
	n     atomic.Int64 // a state that faults use
}

func (y *toy) is(fault string) bool { return y.fault == fault }

func (y *toy) Describe() executor.Description {
	d := executor.Description{
		Name: "toy", Version: "1.0.0",
		Languages: []executor.Language{{
			ID: "toy", Version: "1", TreeSchema: "toy/1", Schema: executor.IndexSchema("toy/1", "toy", "verbs", "words"), Samples: toySamples(),
		}},
		Tools: []executor.Tool{{
			Name: "toy", Language: "toy", Description: "plays", SourceArgument: "code",
			Parameters: []byte(`{"type":"object","properties":{"code":{"type":"string"}}}`),
		}},
		Capacity: executor.Capacity{MaxConcurrent: 4, MaxSourceBytes: 1 << 20, MaxTreeBytes: 1 << 20},
	}
	switch y.fault {
	case "moody":
		d.Build = strconv.FormatInt(y.n.Add(1), 10)
	case "version":
		d.Version = "one"
	case "capacity":
		d.Capacity.MaxConcurrent = 0
	case "tool's language":
		d.Tools[0].Language = "other"
	case "tool's name":
		d.Tools = append(d.Tools, d.Tools[0])
	case "tool's argument":
		d.Tools[0].SourceArgument = "text"
	case "tool's parameters":
		d.Tools[0].Parameters = nil
	case "tree schema":
		d.Languages[0].TreeSchema = "toy"
	case "schema":
		d.Languages[0].Schema = nil
	case "open schema":
		d.Languages[0].Schema = []byte(`{"type":"object"}`)
	case "slow":
		time.Sleep(tolerance + 100*time.Millisecond)
	}
	return d
}

func toySamples() []executor.Sample {
	return []executor.Sample{
		{Kind: "ok", Code: []byte("say hi"), WantStdout: []byte("hi"), WantValue: "2"},
		{Kind: "syntax_error", Code: []byte("wrong")},
		{Kind: "runtime_error", Code: []byte("raise x")},
		{Kind: "forever", Code: []byte("loop x")},
		{Kind: "flood", Code: []byte("flood x")},
		{Kind: "alloc", Code: []byte("alloc x")},
		{Kind: "effect", Code: []byte("set x")},
		{Kind: "probe", Code: []byte("get x"), WantStdout: []byte("0")},
		{Kind: "canary", Code: []byte("say canary"), WantInTree: []string{"canary"}},
	}
}

func (y *toy) Parse(_ context.Context, src executor.Source) (executor.Program, error) {
	verb, word, found := strings.Cut(string(src.Code), " ")
	if y.is("odd texts") && bytes.ContainsRune(src.Code, 0) {
		return nil, errors.New("what is this?")
	}
	if !found {
		return nil, y.syntaxError()
	}
	tree, err := y.tree(verb, word, src.Code)
	if err != nil {
		return nil, err
	}
	return &executor.Prog{Doc: tree, Do: func(ctx context.Context, _ executor.Grant, out executor.Output) (executor.Result, error) {
		return y.run(ctx, out, verb, word)
	}}, nil
}

func (y *toy) tree(verb, word string, code []byte) (executor.Tree, error) {
	x := executor.NewIndex("verbs", "words")
	x.Add("verbs", verb, executor.Place(1, 0, 1, len(verb)))
	switch y.fault {
	case "canary":
		word = "?"
	case "random tree":
		x.Add("words", strconv.FormatInt(y.n.Add(1), 10), executor.Place(1, 0, 1, 1))
	case "runs at parse":
		y.step(verb)
	case "other text":
		code = append([]byte{' '}, code...)
	}
	x.Add("words", word, executor.Place(1, 0, 1, len(word)))
	tree, err := x.Tree(executor.Language{ID: "toy", TreeSchema: "toy/1", Grammar: "1"}, executor.Source{Code: code})
	if y.is("other schema") {
		tree.Schema = "toy/2"
	}
	return tree, err
}

func (y *toy) syntaxError() error {
	e := &executor.CompileError{Problem: executor.Problem{Type: "SyntaxError", Message: "no word", Line: 1}}
	switch y.fault {
	case "no line":
		e.Line = 0
	case "syntax is internal":
		return errors.New("no word")
	}
	return e
}

func (y *toy) step(verb string) {
	if verb == "set" {
		y.n.Add(1)
	}
}

func (y *toy) run(ctx context.Context, out executor.Output, verb, word string) (executor.Result, error) {
	switch verb {
	case "say":
		return y.say(out, word)
	case "raise":
		return executor.Result{}, y.raise(word)
	case "loop":
		if y.is("deaf") {
			time.Sleep(4 * time.Second)
			return executor.Result{}, nil
		}
		<-ctx.Done()
		return executor.Result{}, ctx.Err()
	case "flood":
		for range 100 {
			fmt.Fprint(out.Stdout(), strings.Repeat("y", 1000))
		}
	case "alloc":
		if y.is("no memory limit") {
			return executor.Result{}, nil
		}
		return executor.Result{}, executor.ErrMemory
	case "get":
		fmt.Fprint(out.Stdout(), y.n.Load())
	default:
		if y.is("keeps state") {
			y.step(verb)
		}
	}
	return executor.Result{}, nil
}

func (y *toy) say(out executor.Output, word string) (executor.Result, error) {
	if y.is("panics") {
		panic(word)
	}
	if !y.is("mute") {
		fmt.Fprint(out.Stdout(), word)
	}
	value := len(word)
	if y.is("value") {
		value++
	}
	return executor.Result{Value: strconv.Itoa(value), HasValue: true}, nil
}

func (y *toy) raise(word string) error {
	e := &executor.RuntimeError{Problem: executor.Problem{Type: "Error", Message: word, Trace: "line 1"}}
	switch y.fault {
	case "host path":
		e.Trace = "File /usr/lib/toy/main, line 1"
	case "raise is internal":
		return errors.New(word)
	case "no type":
		e.Type = ""
	}
	return e
}
