package toolcall

import (
	"math"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Asked is a call as a front has read it.
type Asked struct {
	Name      string
	Arguments jsontext.Value // an object, or the same as a JSON string
	Session   *string        // nil: the caller's default session
	Wait      *float64       // seconds for which a busy session is waited for; nil: as the gateway is set
}

// Call is what a model asks for, in the gateway's terms.
type Call struct {
	Tool string
	Code string

	noCode string // why Code is empty, for the model

	cell  *gateway.Cell // nil: the tool keeps no state
	fresh bool          // it would be a cell, but no sessions are kept: each starts from nothing
}

// Read finds out what a call asks for. Errors: gateway.ErrUnknownTool, an
// *gateway.InvalidError.
func Read(g *gateway.Gateway, asked Asked) (Call, error) {
	inSession, err := CellOf(asked.Session, asked.Wait)
	if err != nil {
		return Call{}, err
	}
	target, err := Find(g, asked.Name)
	if err != nil {
		return Call{}, err
	}
	code, why, err := sourceOf(asked.Arguments, target.Tool().SourceArgument)
	if err != nil {
		return Call{}, err
	}
	if target.Tool().Name == calculator && strings.ContainsAny(code, "\n;") {
		target = orCell(g, target)
	}
	call := Call{Tool: target.Tool().Name, Code: code, noCode: why}
	if !target.Tool().Stateful && target.Language().ID != python {
		return call, nil
	}
	call.Code = unindented(code)
	if asked.Session != nil || g.KeepsSessions(call.Tool) {
		call.cell = inSession
	}
	call.fresh = call.cell == nil
	return call, nil
}

// Empty says whether there is nothing to run.
func (c Call) Empty() bool { return strings.TrimSpace(c.Code) == "" }

// NoCode is the observation of a call that is Empty.
func (c Call) NoCode() string { return c.noCode }

// Request is the call as a submission of whoever by names: its id, trace and
// caller are kept.
func (c Call) Request(by gateway.Request) gateway.Request {
	by.Route, by.Tool, by.Code, by.ValueWanted, by.Cell = gateway.RouteTools, c.Tool, []byte(c.Code), true, c.cell
	return by
}

// Settled is the answer to the call: what became of a state that is never kept is
// said too.
func (c Call) Settled(ans gateway.Answer) gateway.Answer {
	if c.fresh {
		ans.Result.SessionState = executor.SessionNew
	}
	return ans
}

// orCell makes a cell of a calculator call of several lines or statements, as
// the training tool does. Without a tool for cells the calculator is left to say
// that it cannot read the text.
func orCell(g *gateway.Gateway, calculator gateway.Target) gateway.Target {
	if target, err := Find(g, statefulTool); err == nil {
		return target
	}
	return calculator
}

// unindented takes the first line's indentation from every line, so that a
// program that was pasted indented is read as it was meant; lines keep their
// numbers.
func unindented(code string) string {
	trimmed := strings.TrimLeft(code, " \t\r\n")
	indent := code[:len(code)-len(trimmed)]
	indent = indent[strings.LastIndexByte(indent, '\n')+1:]
	if indent == "" {
		return code
	}
	lines := strings.Split(code, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, indent)
	}
	return strings.Join(lines, "\n")
}

// Longest is far above every ceiling and whatever a caller may mean, and below what
// overflows: some hundred years.
const Longest = 876_000 * time.Hour

// WaitOf reads the seconds that a busy session may be waited for; nil: as the
// gateway is set. The error is an *gateway.InvalidError.
func WaitOf(v *float64) (*time.Duration, error) {
	switch {
	case v == nil:
		return nil, nil
	case !(*v >= 0): // NaN too
		return nil, &gateway.InvalidError{Field: "wait", Reason: "must be a number of seconds that is not negative"}
	}
	wait := time.Duration(math.Min(*v, Longest.Seconds()) * float64(time.Second))
	return &wait, nil
}

// CellOf asks for a session by its id; nil is the caller's default one. The error
// is an *gateway.InvalidError.
func CellOf(id *string, wait *float64) (*gateway.Cell, error) {
	patience, err := WaitOf(wait)
	if err != nil {
		return nil, err
	}
	c := &gateway.Cell{Wait: patience}
	if id != nil {
		if *id == "" {
			return nil, &gateway.InvalidError{Field: "session_id", Reason: "must not be empty: leave it out for your default session"}
		}
		c.Session = *id
	}
	return c, nil
}
