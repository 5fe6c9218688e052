package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-gateway/sluice/executor"
)

// ask is the source frame.
type ask struct {
	Sections     []string `json:"sections"` // nil: all
	MaxTreeBytes uint64   `json:"max_tree_bytes"`
	Memory       uint64   `json:"memory"` // bytes beyond the runtime's own; 0: no limit
	Stays        bool     `json:"stays"`  // another text follows and none runs: see readers.go

	Cell  uint64              `json:"cell"`  // the cell's number in its session; 0: no cell
	Known map[string][]string `json:"known"` // what names stand for from earlier cells
}

// order is the run frame.
type order struct {
	Grants        []string `json:"grants"`
	ValueWanted   bool     `json:"value_wanted"`
	CPUSeconds    uint64   `json:"cpu_seconds"`
	Memory        uint64   `json:"memory"`
	ScratchBytes  uint64   `json:"scratch_bytes"`
	ArtifactBytes uint64   `json:"artifact_bytes"`
	Tasks         uint32   `json:"tasks"` // processes and threads of the child's own uid; 0: no limit
}

// childProblem is what a child says of a text or a run that failed.
type childProblem struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Line    int64  `json:"line"`
	Column  int64  `json:"column"`
	Trace   string `json:"trace"`
}

// end is the end frame: how a child says its program ended.
type end struct {
	ExitCode    int32         `json:"exit_code"`
	Value       string        `json:"value"`
	HasValue    bool          `json:"has_value"`
	FigureBytes uint64        `json:"figure_bytes"` // of the figure, sent or not; 0: none
	Notes       []string      `json:"notes"`
	Problem     *childProblem `json:"problem"`
	Memory      bool          `json:"memory"`    // the problem is a MemoryError
	Misplaced   bool          `json:"misplaced"` // the text parses but does not compile
}

// Bounds of what a child may say.
const (
	wordBytes  = 256
	textBytes  = 8 << 10
	valueBytes = 80 << 10
	mostNotes  = 8
	// mostFigureDepth bounds a figure's nesting.
	mostFigureDepth = 250
)

// parseEnd reads an end frame; what is over its bound is cut.
func parseEnd(payload []byte) (end, error) {
	var e end
	if err := json.Unmarshal(payload, &e, json.RejectUnknownMembers(true)); err != nil {
		return e, fmt.Errorf("%w: end: %w", errFrame, err)
	}
	if e.ExitCode < 0 || e.ExitCode > 0xFF {
		return e, fmt.Errorf("%w: end with exit code %d, which no process has", errFrame, e.ExitCode)
	}
	e.Value = cut(e.Value, valueBytes)
	e.Notes = e.Notes[:min(len(e.Notes), mostNotes)]
	for i := range e.Notes {
		e.Notes[i] = cut(e.Notes[i], textBytes)
	}
	return e, nil
}

// parseProblem reads a compile error's frame.
func parseProblem(payload []byte) (executor.Problem, error) {
	var p childProblem
	if err := json.Unmarshal(payload, &p, json.RejectUnknownMembers(true)); err != nil {
		return executor.Problem{}, fmt.Errorf("%w: problem: %w", errFrame, err)
	}
	return p.problem(), nil
}

func (p childProblem) problem() executor.Problem {
	return executor.Problem{
		Type: cut(p.Type, wordBytes), Message: cut(p.Message, textBytes), Trace: cut(p.Trace, textBytes),
		Line: number(p.Line), Column: number(p.Column),
	}
}

func number(n int64) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) } //nolint:gosec // clamped

// cut shortens s to limit bytes on a character boundary.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}

// parseTree takes a tree frame apart. The document is checked to be one JSON
// object only by the host, which judges it.
func parseTree(payload []byte) (executor.Tree, error) {
	if len(payload) < 8 {
		return executor.Tree{}, fmt.Errorf("%w: tree of %d bytes", errFrame, len(payload))
	}
	return executor.Tree{
		Schema: treeSchema, JSON: payload[8:],
		Nodes: binary.BigEndian.Uint32(payload), Depth: binary.BigEndian.Uint32(payload[4:]),
	}, nil
}

// checkFigure makes sure that a figure is one strict JSON object: valid UTF-8,
// no duplicate keys, no NaN, nesting within mostFigureDepth.
func checkFigure(data []byte) error {
	value := jsontext.Value(data)
	if !value.IsValid() || value.Kind() != '{' {
		return fmt.Errorf("%w: figure is not a JSON object", errFrame)
	}
	if deepest := nesting(data); deepest > mostFigureDepth {
		return fmt.Errorf("%w: figure is nested %d deep, at most %d", errFrame, deepest, mostFigureDepth)
	}
	return nil
}

// nesting is how deep the brackets of valid JSON are nested.
func nesting(data []byte) (deepest int) {
	depth, inText := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
