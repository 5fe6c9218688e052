package workbench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/policy"
)

const shipped = "../../../policies"

// parser is the Python runtime's index behind two pipes.
type parser struct {
	mu    sync.Mutex
	in    io.WriteCloser
	out   *bufio.Reader
	times int // that it parsed
}

func startParser(t *testing.T) *parser {
	t.Helper()
	cmd := exec.Command("../../../.venv/bin/python", "-I", "-B", "../testdata/python/parse.py", "../../../plugins/python-exec/runtime")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("the interpreter of `make build` is needed to make documents: %v", err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &parser{in: in, out: bufio.NewReaderSize(out, 1<<20)}
}

func (p *parser) parse(_ context.Context, language string, code []byte, sections []string) (executor.Tree, *executor.Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.times++
	if language != "python" {
		return executor.Tree{}, nil, fmt.Errorf("no parser for %q", language)
	}
	request, err := json.Marshal(map[string]any{"code": code, "sections": sections})
	if err != nil {
		return executor.Tree{}, nil, err
	}
	if _, err := p.in.Write(append(request, '\n')); err != nil {
		return executor.Tree{}, nil, err
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return executor.Tree{}, nil, err
	}
	var answer struct {
		Document []byte
		Error    string
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return executor.Tree{}, nil, err
	}
	if answer.Error != "" {
		return executor.Tree{}, &executor.Result{Status: executor.StatusCompileError, Problem: &executor.Problem{Type: "SyntaxError", Message: answer.Error}}, nil
	}
	return executor.Tree{Schema: "pyast/1", JSON: answer.Document}, nil, nil
}

// shippedFolder is the repository's policy as a file system that a test may change.
func shippedFolder(t *testing.T) fstest.MapFS {
	t.Helper()
	m := fstest.MapFS{}
	root := os.DirFS(shipped)
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(root, path)
		m[path] = &fstest.MapFile{Data: body}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func load(t *testing.T, folder fs.FS) gateway.Policy {
	t.Helper()
	schema, err := os.ReadFile(shipped + "/schemas/pyast-1.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := policy.Load(context.Background(), policy.Config{
		FS: folder, SkipCorpus: true, Languages: []executor.Language{{ID: "python", TreeSchema: "pyast/1", Schema: schema}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Current()
	if err != nil {
		t.Fatal(err)
	}
	return p
}
