// Command plugin-starlark runs Starlark: an executor plugin that imports the
// packages executor and executor/wire of Sluice and nothing else of it.
//
// main.go is the executor, tree.go what the policy sees of a program, samples.go
// what the conformance suite runs. The interpreter lives in a worker, a process
// of its own for each submission, which the kit ends when a limit is reached.
package main

import (
	"context"
	"errors"
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire"
)

func main() { wire.ServeInWorkers(plugin{}) }

const mostSteps = 2_000_000_000 // of the interpreter, in one program

type plugin struct{}

// Parse implements executor.Executor: the tree that it shows is the one that runs.
func (plugin) Parse(_ context.Context, src executor.Source) (executor.Program, error) {
	file, err := dialect.Parse("program", src.Code, 0)
	var wrong syntax.Error
	if errors.As(err, &wrong) {
		return nil, &executor.CompileError{Problem: problem("SyntaxError", wrong.Msg, wrong.Pos)}
	}
	if err != nil {
		return nil, err
	}
	tree, err := show(file, src)
	return &executor.Prog{Doc: tree, Do: func(ctx context.Context, _ executor.Grant, out executor.Output) (executor.Result, error) {
		return run(ctx, file, out)
	}}, err
}

const valueName = "value of the program" // no program can bind that

func run(ctx context.Context, file *syntax.File, out executor.Output) (res executor.Result, err error) {
	if n := len(file.Stmts); n > 0 {
		if last, ok := file.Stmts[n-1].(*syntax.ExprStmt); ok {
			file.Stmts[n-1] = &syntax.AssignStmt{Op: syntax.EQ, LHS: &syntax.Ident{Name: valueName}, RHS: last.X}
		}
	}
	program, err := starlark.FileProgram(file, func(string) bool { return false })
	if err != nil { // a name that is nowhere bound, say
		return res, raised(err)
	}
	thread := &starlark.Thread{Name: "program", Print: func(_ *starlark.Thread, text string) { fmt.Fprintln(out.Stdout(), text) }}
	thread.SetMaxExecutionSteps(mostSteps)
	defer context.AfterFunc(ctx, func() { thread.Cancel("stopped") })()
	globals, err := program.Init(thread, nil)
	switch value := globals[valueName]; {
	case ctx.Err() != nil:
		return res, context.Cause(ctx)
	case err != nil && thread.ExecutionSteps() >= mostSteps:
		return res, executor.ErrCPU
	case err != nil:
		return res, raised(err)
	case value != nil && value != starlark.None:
		res.Value, res.HasValue = value.String(), true
	}
	return res, nil
}
