package rest

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// toolFormats are the shapes in which GET /v1/tools lists the tools.
func toolFormats() map[string]func(toolText) any {
	return map[string]func(toolText) any{
		"chat":      func(t toolText) any { return chatTool{Type: "function", Function: t} },
		"responses": func(t toolText) any { return responsesTool{Type: "function", toolText: t} },
		"anthropic": func(t toolText) any { return anthropicTool{t.Name, t.Description, t.Parameters} },
		"mcp":       func(t toolText) any { return mcpTool{t.Name, t.Description, t.Parameters} },
	}
}

type toolText struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  jsontext.Value `json:"parameters"`
}

type chatTool struct {
	Type     string   `json:"type"`
	Function toolText `json:"function"`
}

type responsesTool struct {
	Type string `json:"type"`
	toolText
	Strict bool `json:"strict"`
}

type anthropicTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	InputSchema jsontext.Value `json:"input_schema"`
}

type mcpTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	InputSchema jsontext.Value `json:"inputSchema"`
}

type toolList struct {
	Tools []any `json:"tools"`
}

// tools lists what can be called.
func (s *server) tools(x *exchange) error {
	format := x.r.URL.Query().Get("format")
	if format == "" {
		format = "chat"
	}
	shape, known := toolFormats()[format]
	if !known {
		return invalid("format", "must be chat, responses, anthropic or mcp")
	}
	list := toolList{Tools: []any{}}
	for _, target := range s.cfg.Gateway.Targets() {
		if tool := target.Tool(); !tool.Stateful || s.cfg.Gateway.KeepsSessions(tool.Name) {
			list.Tools = append(list.Tools, shape(s.describe(tool)))
		}
	}
	x.json(http.StatusOK, list)
	return nil
}

func (s *server) describe(tool executor.Tool) toolText {
	t := toolText{Name: tool.Name, Parameters: jsontext.Value(tool.Parameters)}
	t.Description = strings.ReplaceAll(tool.Description, "{wall}", pythonSeconds(s.cfg.Gateway.WallFor(gateway.RouteTools)))
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

type callRequest struct {
	Name      *string        `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
	Session   *string        `json:"session_id"`
	Wait      *float64       `json:"wait"`
}

type callAnswer struct {
	OK        bool           `json:"ok"`
	Output    string         `json:"output"`
	Status    gateway.Status `json:"status"`
	SessionID *string        `json:"session_id"` // null: the call had no session
	State     *string        `json:"state"`      // null: the tool keeps no state
	RequestID string         `json:"request_id"`
}

func (s *server) callTool(x *exchange) error {
	var body callRequest
	if err := x.decode(&body); err != nil {
		return err
	}
	ans, err := s.observe(x, body, x.id)
	if err != nil {
		return err
	}
	if prefers(x.r.Header.Values("Accept"), "application/json", "text/plain") == "text/plain" {
		x.send(http.StatusOK, "text/plain; charset=utf-8", []byte(strings.ToValidUTF8(ans.Output, "\uFFFD")))
		return nil
	}
	x.json(http.StatusOK, ans)
	return nil
}

// observe makes a call, under an id for the journal, and gives what the model is
// to see.
func (s *server) observe(x *exchange, body callRequest, id string) (callAnswer, error) {
	call, err := s.toolCall(body)
	if err != nil {
		return callAnswer{}, err
	}
	if strings.TrimSpace(call.code) == "" {
		return callAnswer{Output: "code is empty", Status: gateway.Failed, SessionID: body.Session, RequestID: id}, nil
	}
	req := x.request(gateway.RouteTools, call.tool, call.code)
	req.ID, req.ValueWanted, req.Cell = id, true, call.cell
	ans, err := x.solve(req)
	if err != nil {
		return callAnswer{}, err
	}
	if call.fresh {
		ans.Result.SessionState = executor.SessionNew
	}
	return callAnswer{
		OK: ans.Status == gateway.Completed, Output: observation(ans, call.code), Status: ans.Status,
		SessionID: orNull(ans.Session), State: orNull(ans.Result.SessionState), RequestID: id,
	}, nil
}

// toolCall is what a call asks for.
type toolCall struct {
	tool, code string
	cell       *gateway.Cell // nil: the tool keeps no state
	fresh      bool          // it would be a cell, but no sessions are kept: each starts from nothing
}

func (s *server) toolCall(body callRequest) (toolCall, error) {
	name, err := text("name", body.Name)
	if err != nil {
		return toolCall{}, err
	}
	inSession, err := cell(body.Session, body.Wait)
	if err != nil {
		return toolCall{}, err
	}
	code, err := codeOf(body.Arguments)
	if err != nil {
		return toolCall{}, err
	}
	target, err := s.findTool(name)
	if err != nil {
		return toolCall{}, err
	}
	if target.Tool().Name == calculator && strings.ContainsAny(code, "\n;") {
		target = s.orCell(target)
	}
	call := toolCall{tool: target.Tool().Name, code: code}
	if !target.Tool().Stateful && target.Language().ID != python {
		return call, nil
	}
	call.code = unindented(code)
	if body.Session != nil || s.cfg.Gateway.KeepsSessions(call.tool) {
		call.cell = inSession
	}
	call.fresh = call.cell == nil
	return call, nil
}

// orCell makes a cell of a calculator call of several lines or statements, as
// the training tool does. Without a tool for cells the calculator is left to say
// that it cannot read the text.
func (s *server) orCell(calculator gateway.Target) gateway.Target {
	if target, err := s.findTool(statefulTool); err == nil {
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

// observation is the text of a run as the training tool gives it: what was
// printed, then the last value, or the error.
func observation(ans gateway.Answer, code string) string {
	printed := ans.StdoutText()
	if ans.Status != gateway.Completed {
		said := joinLines(failure(ans, code), stateNote(ans.Result.SessionState))
		return onOwnLine(printed, ans.Result.StdoutOmitted > 0 || !strings.HasSuffix(printed, "\n"), said)
	}
	if ans.Result.HasValue {
		printed = onOwnLine(printed, ans.Result.StdoutOmitted > 0, ans.Result.Value)
	}
	if printed == "" {
		return "None"
	}
	return printed
}

// stateNote tells a model whose cell failed what it can build on.
func stateNote(state string) string {
	switch state {
	case executor.SessionRolledBack:
		return "The session stands as it was before this cell."
	case executor.SessionLost:
		return "What earlier cells made is gone: the session starts afresh."
	}
	return ""
}

func joinLines(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n" + second
}

func onOwnLine(printed string, apart bool, rest string) string {
	if printed != "" && apart {
		printed += "\n"
	}
	return printed + rest
}

func failure(ans gateway.Answer, code string) string {
	p := ans.Result.Problem
	switch {
	case ans.Result.Status == executor.StatusWallLimit:
		return "timed out after " + gateway.Seconds(ans.Limits.Wall)
	case ans.Result.Status == executor.StatusCPULimit:
		return "timed out after " + gateway.Seconds(ans.Limits.CPU) + " of CPU time"
	case p == nil || ans.Status == gateway.Rejected:
		return reason(ans)
	case p.Line > 0 && strings.Contains(strings.TrimSpace(code), "\n"):
		return p.Type + ": " + p.Message + " (line " + strconv.FormatUint(uint64(p.Line), 10) + ")"
	}
	return p.Type + ": " + p.Message
}
