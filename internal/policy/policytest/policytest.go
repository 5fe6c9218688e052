// Package policytest makes real documents for tests of policies: the Python
// runtime's own index behind two pipes, without the walls and children of the
// plugin.
//
// Begin with Start. The package is for tests alone, and must never run what it
// parses.
package policytest

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sluice-gateway/sluice/executor"
)

//go:embed parse.py
var parsePy string

// Python is an interpreter that parses programs, one after another. Safe for
// concurrent use.
type Python struct {
	mu    sync.Mutex
	in    io.WriteCloser
	out   *bufio.Reader
	times int
}

// Start starts the interpreter that `make build` makes; it ends with the test.
func Start(tb testing.TB) *Python {
	tb.Helper()
	root := Root(tb)
	cmd := exec.Command(filepath.Join(root, ".venv/bin/python"), "-I", "-B", "-c", parsePy, filepath.Join(root, "plugins/python-exec/runtime"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatalf("the interpreter of `make build` is needed to make documents: %v", err)
	}
	tb.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			tb.Error(err)
		}
	})
	return &Python{in: in, out: bufio.NewReaderSize(out, 1<<20)}
}

// Root is the checkout's folder, found from the working directory.
func Root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("there is no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
}

// Language is Python as its plugin describes it to a policy.
func Language(tb testing.TB) executor.Language {
	tb.Helper()
	schema, err := os.ReadFile(filepath.Join(Root(tb), "policies/schemas/pyast-1.json"))
	if err != nil {
		tb.Fatal(err)
	}
	return executor.Language{ID: "python", TreeSchema: "pyast/1", Schema: schema}
}

// Times is how often it parsed.
func (p *Python) Times() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.times
}

// Parse gives a program's document, or the result that says that it does not
// parse; nil sections are all. It is a policy.Config.Parse.
func (p *Python) Parse(_ context.Context, language string, code []byte, sections []string) (executor.Tree, *executor.Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.times++
	if language != "python" {
		return executor.Tree{}, nil, fmt.Errorf("no parser for %q", language)
	}
	request, err := json.Marshal(map[string]any{"code": code, "sections": sections})
	if err != nil {
		return executor.Tree{}, nil, fmt.Errorf("ask for a document: %w", err)
	}
	if _, err := p.in.Write(append(request, '\n')); err != nil {
		return executor.Tree{}, nil, fmt.Errorf("ask for a document: %w", err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return executor.Tree{}, nil, fmt.Errorf("read a document: %w", err)
	}
	var answer struct {
		Document []byte
		Error    string
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return executor.Tree{}, nil, fmt.Errorf("read a document: %w", err)
	}
	if kind, message, refused := strings.Cut(answer.Error, ": "); refused {
		return executor.Tree{}, &executor.Result{Status: executor.StatusCompileError, Problem: &executor.Problem{Type: kind, Message: message}}, nil
	}
	return executor.Tree{Schema: "pyast/1", JSON: answer.Document}, nil, nil
}
