package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/sluice-gateway/sluice/executor"
)

// faulty is a plugin that is at fault in the way that the text asks for.
type faulty struct{}

// Describe implements executor.Executor.
func (faulty) Describe() executor.Description {
	return executor.Description{
		Name: "faulty", Version: "0.0.1",
		Languages: []executor.Language{{ID: "faulty", Version: "1", TreeSchema: "faulty/1", Grammar: "1"}},
		Tools:     []executor.Tool{{Name: "faulty", Language: "faulty", Description: "Fails.", Parameters: []byte(`{"type":"object"}`), SourceArgument: "code"}},
	}
}

// Parse implements executor.Executor.
func (faulty) Parse(_ context.Context, src executor.Source) (executor.Program, error) {
	switch string(src.Code) {
	case "fail":
		return nil, errors.New("secret cause of /some/path")
	case "full":
		return nil, executor.ErrOverloaded
	case "die":
		os.Exit(3)
	}
	tree := fmt.Sprintf(`{"schema":"faulty/1","language":"faulty","code":{"sha256":"%x"},"ast":{}}`, src.Digest())
	return &executor.Prog{
		Doc: executor.Tree{Schema: "faulty/1", JSON: []byte(tree), Nodes: 1, Depth: 1},
		Do: func(context.Context, executor.Grant, executor.Output) (executor.Result, error) {
			if string(src.Code) == "die later" {
				os.Exit(3)
			}
			return executor.Result{Value: "fine", HasValue: true}, nil
		},
	}, nil
}
