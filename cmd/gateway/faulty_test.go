package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/sluice-gateway/sluice/executor"
)

// faulty is a plugin that is at fault in the way that the text asks for. It may
// pass for the plugin of another language.
type faulty struct{ language string }

// Describe implements executor.Executor.
func (f faulty) Describe() executor.Description {
	return executor.Description{
		Name: "faulty", Version: "0.0.1",
		Languages: []executor.Language{{ID: f.language, Version: "1", TreeSchema: "faulty/1", Grammar: "1"}},
		Tools:     []executor.Tool{{Name: "faulty", Language: f.language, Description: "Fails.", Parameters: []byte(`{"type":"object"}`), SourceArgument: "code"}},
	}
}

// Parse implements executor.Executor.
func (f faulty) Parse(_ context.Context, src executor.Source) (executor.Program, error) {
	switch string(src.Code) {
	case "fail":
		return nil, errors.New("secret cause of /some/path")
	case "full":
		return nil, executor.ErrOverloaded
	case "die":
		os.Exit(3)
	}
	tree := fmt.Sprintf(`{"schema":"faulty/1","language":"%s","code":{"sha256":"%x"},"ast":{}}`, f.language, src.Digest())
	return &executor.Prog{
		Doc: executor.Tree{Schema: "faulty/1", JSON: []byte(tree), Nodes: 1, Depth: 1},
		Do: func(ctx context.Context, _ executor.Grant, _ executor.Output) (executor.Result, error) {
			switch string(src.Code) {
			case "die later":
				os.Exit(3)
			case "wait":
				<-ctx.Done()
			}
			return executor.Result{Value: "fine", HasValue: true}, nil
		},
	}, nil
}
