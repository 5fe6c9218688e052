package main

import (
	"errors"
	"reflect"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"

	"github.com/sluice-gateway/sluice/executor"
)

var language = executor.Language{
	ID: "javascript", Version: "ES2017", TreeSchema: "jsast/1", Grammar: "ES2017", MediaTypes: []string{"text/javascript"},
	Schema: executor.IndexSchema("jsast/1", "javascript", "names", "attributes", "texts", "kinds"),
}

// dumper walks the engine's tree by reflection, so that no kind of node is
// forgotten.
type dumper struct {
	*executor.Index
	file *ast.Program
	keys map[ast.Node]bool // that name a class's constructor, and are no text
}

// deepestTree bounds the walk; the parser recurses on its own.
const deepestTree = 10_000

// show writes down every name, every attribute, every text that may be one, and
// every kind of node, with its places.
func show(file *ast.Program, src executor.Source) (executor.Tree, error) {
	d := dumper{Index: executor.NewIndex("names", "attributes", "texts", "kinds"), file: file, keys: map[ast.Node]bool{}}
	if !d.walk(reflect.ValueOf(file.Body), 0) {
		return executor.Tree{}, executor.ErrTreeTooLarge
	}
	return d.Tree(language, src)
}

func (d *dumper) walk(v reflect.Value, depth int) bool {
	if depth > deepestTree {
		return false
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return true
		}
		if node, ok := v.Interface().(ast.Node); ok && v.Kind() == reflect.Pointer {
			d.note(node, depth)
		}
		return d.walk(v.Elem(), depth+1)
	case reflect.Slice:
		for i := range v.Len() {
			if !d.walk(v.Index(i), depth+1) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if t := v.Type().Field(i); t.IsExported() && t.Name != "DeclarationList" && t.Name != "File" && !d.walk(v.Field(i), depth+1) {
				return false
			}
		}
	}
	return true
}

func (d *dumper) note(node ast.Node, depth int) {
	d.Node(depth)
	place := d.place(node)
	switch n := node.(type) {
	case *ast.DotExpression:
		d.Add("attributes", n.Identifier.Name.String(), place)
	case *ast.PrivateDotExpression:
		d.Add("attributes", "#"+n.Identifier.Name.String(), place)
	case *ast.Identifier:
		d.Add("names", n.Name.String(), place)
	case *ast.MethodDefinition:
		d.keys[n.Key] = !n.Static
	case *ast.StringLiteral:
		if d.keys[n] && n.Value.String() == "constructor" {
			break
		}
		d.Add("texts", clip(n.Value.String()), place)
	}
	d.Add("kinds", strings.TrimPrefix(reflect.TypeOf(node).String(), "*ast."), place)
}

// clip keeps what an attribute's name can be, and no more.
func clip(s string) string {
	const most = 64
	return s[:min(len(s), most)]
}

// place gives a node's position. Some of goja's nodes panic when they are asked
// for an end that a broken program did not give them; those have none.
func (d *dumper) place(node ast.Node) (place string) {
	defer func() {
		if recover() != nil {
			place = ""
		}
	}()
	begin, end := d.file.File.Position(int(node.Idx0())-d.file.File.Base()), d.file.File.Position(int(node.Idx1())-d.file.File.Base())
	return executor.Place(begin.Line, max(begin.Column-1, 0), end.Line, max(end.Column-1, 0))
}

func problem(kind, text string, line, column int) executor.Problem {
	return executor.Problem{Type: kind, Message: text, Line: uint32(max(line, 1)), Column: uint32(max(column, 0))}
}

// raised says in the program's terms what went wrong.
func raised(err error) error {
	var thrown *goja.Exception
	if errors.As(err, &thrown) {
		kind, text, found := strings.Cut(thrown.Value().String(), ": ")
		if !found {
			kind, text = "Error", thrown.Value().String()
		}
		p := problem(kind, text, 0, 0)
		if stack := thrown.Stack(); len(stack) > 0 {
			at := stack[0].Position()
			p = problem(kind, text, at.Line, at.Column)
		}
		return &executor.RuntimeError{Problem: p}
	}
	var deep *goja.StackOverflowError
	if errors.As(err, &deep) {
		return &executor.RuntimeError{Problem: problem("RangeError", "calls are nested too deep", 0, 0)}
	}
	return &executor.RuntimeError{Problem: problem("Error", err.Error(), 0, 0)}
}
