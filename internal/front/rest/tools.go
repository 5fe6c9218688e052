package rest

import (
	"errors"
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

// tools lists what can be called: tools that need a session cannot yet.
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
		if tool := target.Tool(); !tool.Stateful {
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
	call, err := s.toolCall(x, body)
	if err != nil {
		return err
	}
	if strings.TrimSpace(call.code) == "" {
		return x.observe(call, gateway.Failed, "code is empty")
	}
	req := x.request(gateway.RouteTools, call.tool, call.code)
	req.ValueWanted = true
	ans, err := x.solve(req)
	if err != nil {
		return err
	}
	return x.observe(call, ans.Status, observation(ans, call.code))
}

// toolCall is what a call asks for.
type toolCall struct {
	tool, code string
	cell       bool // runs Python: with sessions, it would be a cell of one
}

func (s *server) toolCall(x *exchange, body callRequest) (toolCall, error) {
	name, err := text("name", body.Name)
	if err != nil {
		return toolCall{}, err
	}
	if err := waitField(body.Wait); err != nil {
		return toolCall{}, err
	}
	code, err := codeOf(body.Arguments)
	if err != nil {
		return toolCall{}, err
	}
	target, err := s.findTool(name)
	if errors.Is(err, gateway.ErrUnknownTool) && toolName(name) == statefulTool {
		return toolCall{}, noSession(x)
	}
	if err != nil {
		return toolCall{}, err
	}
	call := toolCall{tool: target.Tool().Name, code: code, cell: target.Language().ID == python}
	if call.tool == calculator && strings.ContainsAny(code, "\n;") {
		call = s.cellOf(call)
	}
	if target.Tool().Stateful || (call.cell && body.Session != nil) {
		return toolCall{}, noSession(x)
	}
	return call, nil
}

// cellOf makes a python cell of a calculator call, as the training tool does.
// Without a python plugin the calculator is left to say that it cannot read the
// text.
func (s *server) cellOf(call toolCall) toolCall {
	if _, err := s.cfg.Gateway.Find(python); errors.Is(err, gateway.ErrUnknownTool) {
		return call
	}
	return toolCall{tool: python, code: strings.TrimSpace(call.code), cell: true}
}

// observe answers with what the model is to see.
func (x *exchange) observe(call toolCall, status gateway.Status, output string) error {
	if prefers(x.r.Header.Values("Accept"), "application/json", "text/plain") == "text/plain" {
		x.send(http.StatusOK, "text/plain; charset=utf-8", []byte(strings.ToValidUTF8(output, "\uFFFD")))
		return nil
	}
	ans := callAnswer{OK: status == gateway.Completed, Output: output, Status: status, RequestID: x.id}
	if call.cell { // without sessions, each starts from nothing
		state := "new"
		ans.State = &state
	}
	x.json(http.StatusOK, ans)
	return nil
}

// observation is the text of a run as the training tool gives it: what was
// printed, then the last value, or the error.
func observation(ans gateway.Answer, code string) string {
	printed := ans.StdoutText()
	if ans.Status != gateway.Completed {
		return onOwnLine(printed, ans.Result.StdoutOmitted > 0 || !strings.HasSuffix(printed, "\n"), failure(ans, code))
	}
	switch {
	case ans.Result.HasValue:
		return onOwnLine(printed, ans.Result.StdoutOmitted > 0, ans.Result.Value)
	case printed == "":
		return "None"
	}
	return printed
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
