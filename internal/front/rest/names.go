package rest

import (
	"errors"
	"strings"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

const (
	calculator   = "calculator"
	statefulTool = "stateful_python_code_exec"
)

// toolName is how names are compared: models write them in many ways.
func toolName(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "-", "_")
}

// toolNames is name and what else may be meant by it, best first. The aliases
// are those of the training tool; plugins may describe more.
func toolNames(name string) []string {
	switch name = toolName(name); name {
	case "python_code_exec", "code_interpreter", "python_exec", python:
		return []string{statefulTool, name, python}
	case statefulTool:
		return []string{name, python}
	case "calc":
		return []string{name, calculator}
	}
	return []string{name}
}

func (s *server) findTool(name string) (gateway.Target, error) {
	var err error
	for _, candidate := range toolNames(name) {
		var target gateway.Target
		if target, err = s.cfg.Gateway.Find(candidate); !errors.Is(err, gateway.ErrUnknownTool) {
			return target, err
		}
	}
	return nil, err
}
