package main

import (
	"errors"
	"reflect"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/sluice-gateway/sluice/executor"
)

// dialect is Starlark with while, recursion and statements at the top.
var dialect = &syntax.FileOptions{While: true, Recursion: true, TopLevelControl: true, GlobalReassign: true, Set: true}

var language = executor.Language{
	ID: "starlark", Version: "1", TreeSchema: "starlarkast/1", Grammar: "1", MediaTypes: []string{"text/x-starlark"},
	Schema: executor.IndexSchema("starlarkast/1", "starlark", "names", "attributes", "kinds"),
}

// show writes down every name, every attribute and every kind of node, with its
// places.
func show(file *syntax.File, src executor.Source) (executor.Tree, error) {
	x := executor.NewIndex("names", "attributes", "kinds")
	depth := 0
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			depth--
			return true
		}
		depth++
		x.Node(depth)
		place := placeOf(n)
		switch n := n.(type) {
		case *syntax.Ident:
			x.Add("names", n.Name, place)
		case *syntax.DotExpr:
			x.Add("attributes", n.Name.Name, place)
		}
		x.Add("kinds", strings.TrimPrefix(reflect.TypeOf(n).String(), "*syntax."), place)
		return true
	})
	return x.Tree(language, src)
}

func placeOf(n syntax.Node) string {
	begin, end := n.Span()
	return executor.Place(int(begin.Line), max(int(begin.Col)-1, 0), int(end.Line), max(int(end.Col)-1, 0))
}

func problem(kind, text string, at syntax.Position) executor.Problem {
	return executor.Problem{Type: kind, Message: text, Line: uint32(max(at.Line, 1)), Column: uint32(max(at.Col, 0))}
}

// raised says in the program's terms what went wrong.
func raised(err error) error {
	var unbound resolve.ErrorList
	if errors.As(err, &unbound) && len(unbound) > 0 {
		return &executor.RuntimeError{Problem: problem("NameError", unbound[0].Msg, unbound[0].Pos)}
	}
	var evaluated *starlark.EvalError
	if errors.As(err, &evaluated) {
		p := problem("EvalError", evaluated.Msg, syntax.Position{})
		for _, frame := range evaluated.CallStack {
			if frame.Pos.Line > 0 {
				p.Line, p.Column = uint32(frame.Pos.Line), uint32(max(frame.Pos.Col, 0))
			}
		}
		p.Trace = evaluated.Backtrace()
		return &executor.RuntimeError{Problem: p}
	}
	return &executor.RuntimeError{Problem: problem("Error", err.Error(), syntax.Position{})}
}
