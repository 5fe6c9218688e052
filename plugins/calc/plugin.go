package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-gateway/sluice/executor"
)

const (
	languageID = "calc"
	version    = "0.1.0"
	grammar    = "3.11"
	maxSource  = 1 << 20
	maxTree    = 16 << 20
)

//go:embed calcast-1.json
var schema []byte

// calculator implements executor.Executor. It holds nothing, so that one
// submission cannot see another.
type calculator struct{}

// Describe implements executor.Executor.
func (calculator) Describe() executor.Description {
	return executor.Description{
		Name:    "calc",
		Version: version,
		Languages: []executor.Language{{
			ID: languageID, Version: version, TreeSchema: treeSchema, Schema: slices.Clone(schema), Grammar: grammar, Samples: samples(), Lacks: lacks(),
		}},
		Tools: []executor.Tool{{
			Name: "calculator", Aliases: []string{"calc"}, Language: languageID,
			Description: "Evaluate a math expression and return the numeric result. Python syntax: ** is power (^ is refused), // whole division; " +
				"integers are exact, and shown up to 4,300 digits. Knows the functions and constants of Python's math module " +
				"(sqrt, sin, log, factorial, comb, gcd, pi, e …) and abs, min, max, round, pow. One expression; at most {wall} seconds.",
			Parameters:     []byte(parameters),
			SourceArgument: "expression",
		}},
		Libraries: []executor.Library{{Name: "math", Version: grammar}},
		Capacity:  executor.Capacity{MaxConcurrent: 16, MaxSourceBytes: maxSource, MaxTreeBytes: maxTree},
		Features:  []string{"cancel.soft"},
	}
}

const parameters = `{"type":"object","properties":{"expression":{"type":"string",` +
	`"description":"Math expression, for example 12.5 * (3 + 4)"}},"required":["expression"]}`

// Parse implements executor.Executor. The program that it gives evaluates the
// tree that it shows.
func (calculator) Parse(ctx context.Context, src executor.Source) (executor.Program, error) {
	if len(src.Code) > maxSource {
		return nil, executor.ErrTreeTooLarge
	}
	root, nodes, err := parseExpression(src.Code)
	switch {
	case errors.Is(err, errTooDeep):
		return nil, fmt.Errorf("parse: %w", executor.ErrTreeTooLarge)
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	limit := uint64(maxTree)
	if src.MaxTreeBytes > 0 {
		limit = min(limit, src.MaxTreeBytes)
	}
	tree, err := dump(root, nodes, src, limit)
	if err != nil {
		return nil, err
	}
	return &executor.Prog{Doc: tree, Do: func(ctx context.Context, g executor.Grant, _ executor.Output) (executor.Result, error) {
		return run(ctx, g, root)
	}}, nil
}

// run evaluates root and gives its text as the value.
func run(ctx context.Context, g executor.Grant, root *node) (executor.Result, error) {
	e := newEvaluator(ctx, g)
	v, err := e.eval(root)
	if err != nil {
		return executor.Result{}, err
	}
	text, err := resultText(v)
	if err != nil {
		return executor.Result{}, placed(err, root.at)
	}
	return executor.Result{Value: text, HasValue: true}, nil
}
