// Command plugin-javascript runs JavaScript on goja, an engine in pure Go: an
// executor plugin that imports the packages executor and executor/wire of Sluice
// and nothing else of it.
//
// main.go is the executor, tree.go what the policy sees of a program, describe.go
// what it says of itself. The engine lives in a worker, a process of its own for
// each submission, which the kit ends when a limit is reached.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire"
)

func main() { wire.ServeInWorkers(plugin{}) }

const deepestCalls = 10_000

type plugin struct{}

// Parse implements executor.Executor: the tree that it shows is the one that runs.
func (plugin) Parse(_ context.Context, src executor.Source) (executor.Program, error) {
	file, err := parser.ParseFile(nil, "program", string(src.Code), 0, parser.WithDisableSourceMaps)
	var wrong parser.ErrorList
	if errors.As(err, &wrong) && len(wrong) > 0 {
		at := wrong[0].Position
		return nil, &executor.CompileError{Problem: problem("SyntaxError", wrong[0].Message, at.Line, at.Column)}
	}
	if err != nil {
		return nil, err
	}
	tree, err := show(file, src)
	return &executor.Prog{Doc: tree, Do: func(ctx context.Context, _ executor.Grant, out executor.Output) (executor.Result, error) {
		return run(ctx, file, out)
	}}, err
}

func run(ctx context.Context, file *ast.Program, out executor.Output) (res executor.Result, err error) {
	program, err := goja.CompileAST(file, true)
	if err != nil {
		return res, raised(err)
	}
	vm := goja.New()
	vm.SetMaxCallStackSize(deepestCalls)
	printTo := func(w io.Writer) func(goja.FunctionCall) goja.Value {
		return func(call goja.FunctionCall) goja.Value {
			words := make([]string, len(call.Arguments))
			for i, a := range call.Arguments {
				words[i] = a.String()
			}
			fmt.Fprintln(w, strings.Join(words, " "))
			return goja.Undefined()
		}
	}
	console := map[string]any{"log": printTo(out.Stdout()), "error": printTo(out.Stderr())}
	if err := errors.Join(vm.Set("console", console), vm.Set("print", console["log"])); err != nil {
		return res, err
	}
	defer context.AfterFunc(ctx, func() { vm.Interrupt("stopped") })()
	value, err := vm.RunProgram(program)
	switch {
	case ctx.Err() != nil:
		return res, context.Cause(ctx)
	case err != nil:
		return res, raised(err)
	case value != nil && !goja.IsUndefined(value):
		res.Value, res.HasValue = value.String(), true
	}
	return res, nil
}
