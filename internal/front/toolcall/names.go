package toolcall

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

const (
	calculator   = "calculator"
	statefulTool = "stateful_python_code_exec"
	python       = "python" // the language of a call that names no tool
)

// Name is how names are compared: models write them in many ways.
func Name(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "-", "_")
}

// namesOf is name and what else may be meant by it, best first. The aliases
// are those of the training tool; plugins may describe more.
func namesOf(name string) []string {
	switch name = Name(name); name {
	case "python_code_exec", "code_interpreter", "python_exec", python:
		return []string{statefulTool, name, python}
	case statefulTool:
		return []string{name, python}
	case "calc":
		return []string{name, calculator}
	}
	return []string{name}
}

// Find returns the tool that a model means by name, or gateway.ErrUnknownTool.
func Find(g *gateway.Gateway, name string) (gateway.Target, error) {
	var err error
	for _, candidate := range namesOf(name) {
		var target gateway.Target
		if target, err = g.Find(candidate); !errors.Is(err, gateway.ErrUnknownTool) {
			return target, err
		}
	}
	if len(name) <= mostName {
		err = &unknownTool{name: name, have: known(g), err: err}
	}
	return nil, err
}

// known lists the tools that there are, as a model may name them.
func known(g *gateway.Gateway) []string {
	var names []string
	for _, target := range g.Targets() {
		names = append(names, target.Tool().Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// unknownTool is a gateway.ErrUnknownTool that says which there are.
type unknownTool struct {
	name string
	have []string
	err  error
}

func (e *unknownTool) Error() string { return e.err.Error() }
func (e *unknownTool) Unwrap() error { return e.err }

func (e *unknownTool) detail() string {
	if len(e.have) == 0 {
		return fmt.Sprintf("no such tool: %q; there is none now", e.name)
	}
	return fmt.Sprintf("no such tool: %q; there are %s", e.name, strings.Join(e.have, ", "))
}
