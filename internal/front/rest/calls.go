package rest

import (
	"errors"
	"fmt"
	"net/http"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-gateway/sluice/internal/front/toolcall"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// maxCalls bounds the calls of one request.
const maxCalls = 64

// callsRequest is a model's turn: the tool calls of a chat message, or the
// output items of a Responses answer. What is no call in the latter is passed
// over.
type callsRequest struct {
	Calls   []jsontext.Value `json:"tool_calls"`
	Output  []jsontext.Value `json:"output"`
	Session *string          `json:"session_id"`
	Wait    *float64         `json:"wait"`
}

type callsAnswer struct {
	Items     []any        `json:"items"`   // to be put behind the model's turn as they are
	Results   []callAnswer `json:"results"` // what became of each, in the same order
	RequestID string       `json:"request_id"`
}

// chatReply answers a call of the chat form.
type chatReply struct {
	Role    string `json:"role"`
	CallID  string `json:"tool_call_id"`
	Content string `json:"content"`
}

// responsesReply answers a call of the Responses form.
type responsesReply struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output string `json:"output"`
}

// modelCall is one call of a model's, and the form of its reply.
type modelCall struct {
	callRequest
	reply func(output string) any
}

// callTools runs a model's calls in their order, so that the cells of a session
// are in order too. A call that cannot be made is told to the model like one that
// failed: those before it have had their effect.
func (s *server) callTools(x *exchange) error {
	var body callsRequest
	if err := x.decode(&body); err != nil {
		return err
	}
	calls, err := modelCalls(body)
	if err != nil {
		return err
	}
	if _, err := toolcall.WaitOf(body.Wait); err != nil {
		return err
	}
	out := callsAnswer{Items: []any{}, Results: []callAnswer{}, RequestID: x.id}
	for i, call := range calls {
		result, err := s.callOne(x, call, fmt.Sprintf("%.110s.%d", x.id, i+1))
		if err != nil {
			return err
		}
		out.Items = append(out.Items, call.reply(result.Output))
		out.Results = append(out.Results, result)
	}
	x.json(http.StatusOK, out)
	return nil
}

// callOne gives an error only when nobody waits any more, or when it is ours.
func (s *server) callOne(x *exchange, call modelCall, id string) (callAnswer, error) {
	result, err := s.observe(x, call.callRequest, id)
	if err == nil {
		return result, nil
	}
	fault := refusalFor(err, s.cfg.Limits)
	if errors.Is(err, gateway.ErrGone) || fault.status == http.StatusInternalServerError {
		return callAnswer{}, err
	}
	return callAnswer{Output: fault.detail, Status: gateway.Failed, RequestID: id}, nil
}

func modelCalls(body callsRequest) ([]modelCall, error) {
	field, items := "tool_calls", body.Calls
	switch {
	case body.Calls == nil && body.Output == nil:
		return nil, invalid(field, "is missing: it must be a list of tool calls")
	case body.Calls != nil && body.Output != nil:
		return nil, invalid("output", "must not stand beside tool_calls")
	case body.Output != nil:
		field, items = "output", body.Output
	}
	if len(items) > maxCalls {
		return nil, invalid(field, fmt.Sprintf("must have at most %d entries", maxCalls))
	}
	var calls []modelCall
	for i, item := range items {
		at := fmt.Sprintf("%s.%d", field, i)
		call, err := modelCallOf(at, item, body.Output != nil)
		if err != nil {
			return nil, err
		}
		if call != nil {
			call.Session, call.Wait = body.Session, body.Wait
			calls = append(calls, *call)
		}
	}
	return calls, nil
}

// callItem is a call of either form.
type callItem struct {
	Type      string         `json:"type"`
	ID        string         `json:"id"`
	CallID    string         `json:"call_id"`
	Name      *string        `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
	Function  *struct {
		Name      *string        `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	} `json:"function"`
}

// modelCallOf reads one item; nil for one that is no call, where those may stand.
func modelCallOf(at string, item jsontext.Value, others bool) (*modelCall, error) {
	var c callItem
	if item.Kind() != '{' || json.Unmarshal(item, &c) != nil {
		return nil, invalid(at, "must be a tool call")
	}
	switch {
	case c.Type == "function_call":
		if c.CallID == "" {
			return nil, invalid(at+".call_id", "is missing: it must be a string")
		}
		return &modelCall{callRequest{Name: c.Name, Arguments: c.Arguments}, func(output string) any {
			return responsesReply{Type: "function_call_output", CallID: c.CallID, Output: output}
		}}, nameThere(at+".name", c.Name)
	case c.Function != nil && (c.Type == "function" || c.Type == ""):
		if c.ID == "" {
			return nil, invalid(at+".id", "is missing: it must be a string")
		}
		return &modelCall{callRequest{Name: c.Function.Name, Arguments: c.Function.Arguments}, func(output string) any {
			return chatReply{Role: "tool", CallID: c.ID, Content: output}
		}}, nameThere(at+".function.name", c.Function.Name)
	case others:
		return nil, nil
	}
	return nil, invalid(at, `must be a tool call: {"type": "function", "id", "function": {"name", "arguments"}} or {"type": "function_call", "call_id", "name", "arguments"}`)
}

func nameThere(field string, name *string) error {
	_, err := text(field, name)
	return err
}
