package rest

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-gateway/sluice/internal/front/toolcall"
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
	for _, tool := range toolcall.Tools(s.cfg.Gateway) {
		list.Tools = append(list.Tools, shape(toolText{Name: tool.Name, Description: tool.Description, Parameters: tool.Parameters}))
	}
	x.json(http.StatusOK, list)
	return nil
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
	name, err := text("name", body.Name)
	if err != nil {
		return callAnswer{}, err
	}
	call, err := toolcall.Read(s.cfg.Gateway, toolcall.Asked{Name: name, Arguments: body.Arguments, Session: body.Session, Wait: body.Wait})
	if err != nil {
		return callAnswer{}, err
	}
	if call.Empty() {
		return callAnswer{Output: call.NoCode(), Status: gateway.Failed, SessionID: body.Session, RequestID: id}, nil
	}
	req := call.Request(x.by())
	req.ID = id
	ans, err := x.solve(req)
	if err != nil {
		return callAnswer{}, err
	}
	ans = call.Settled(ans)
	return callAnswer{
		OK: ans.Status == gateway.Completed, Output: toolcall.Observation(ans, call.Code), Status: ans.Status,
		SessionID: orNull(ans.Session), State: orNull(ans.Result.SessionState), RequestID: id,
	}, nil
}
