package toolcall

import (
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Tool is a tool as a model is told of it.
type Tool struct {
	Name        string
	Description string
	Parameters  jsontext.Value // JSON Schema of an object
	Stateful    bool           // its calls are cells of a session
}

// Tools lists what can be called, in the order of its name. A tool that needs
// sessions is left out where none are kept.
func Tools(g *gateway.Gateway) []Tool {
	list := []Tool{}
	wall := g.WallFor(gateway.RouteTools)
	for _, target := range g.Targets() {
		if tool := target.Tool(); !tool.Stateful || g.KeepsSessions(tool.Name) {
			list = append(list, describe(tool, wall))
		}
	}
	return list
}

func describe(tool executor.Tool, wall time.Duration) Tool {
	t := Tool{Name: tool.Name, Parameters: jsontext.Value(tool.Parameters), Stateful: tool.Stateful}
	t.Description = strings.ReplaceAll(tool.Description, "{wall}", pythonSeconds(wall))
	if !t.Parameters.IsValid() || t.Parameters.Kind() != '{' {
		t.Parameters = jsontext.Value(`{"type":"object"}`)
	}
	return t
}

// pythonSeconds writes seconds as Python writes a float, as the description that
// models were trained on does: "120.0".
func pythonSeconds(d time.Duration) string {
	return pythonFloat(strconv.FormatFloat(d.Seconds(), 'g', -1, 64))
}
