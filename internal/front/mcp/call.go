package mcp

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sluice-gateway/sluice/internal/front/toolcall"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// answerSchema describes the structured content of every result.
//
//go:embed answer.schema.json
var answerSchema string

// handles are the arguments that are this front's own, beside a tool's.
type handles struct {
	Session *string  `json:"session_id"`
	Wait    *float64 `json:"wait"`
}

// call serves tools/call for the tools of plugins.
func (f *Front) call(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return f.answer(ctx, req, func(ctx context.Context, by gateway.Request) (*sdk.CallToolResult, error) {
		asked, err := askedOf(req.Params.Name, jsontext.Value(req.Params.Arguments))
		if err != nil {
			return nil, err
		}
		call, err := toolcall.Read(f.cfg.Gateway, asked)
		if err != nil {
			return nil, err
		}
		if call.Empty() {
			return said(short{Output: call.NoCode(), Status: gateway.Failed, RequestID: by.ID}), nil
		}
		told := f.follow(ctx, req)
		ans, err := f.cfg.Gateway.SolveFollowed(ctx, call.Request(by), told.follower())
		told.stop()
		if err != nil {
			return nil, err
		}
		return resultOf(call, call.Settled(ans), by.ID)
	})
}

// answer does what is asked for and makes a result of what stood in the way.
func (f *Front) answer(ctx context.Context, req *sdk.CallToolRequest, do func(context.Context, gateway.Request) (*sdk.CallToolResult, error)) (*sdk.CallToolResult, error) {
	v := visitOf(ctx, req.Extra)
	if v == nil || !v.caller.Load().May(Scope) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the token does not have the scope " + Scope}
	}
	if err := tokenFault(req); err != nil {
		return nil, err
	}
	ctx, cancel := v.until(ctx)
	defer cancel()
	by := v.next()
	if sent, told := req.Params.Meta["traceparent"].(string); told && by.Traceparent == "" {
		by.Traceparent = toolcall.ChildTrace([]string{sent})
	}
	result, err := do(ctx, by)
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return nil, ctx.Err() // nobody waits for it
	}
	return f.refusal(err, by.ID), nil
}

// refusal is the result of a call that could not be made. What is our fault is
// logged whole.
func (f *Front) refusal(err error, id string) *sdk.CallToolResult {
	r := toolcall.RefusalFor(err, f.cfg.Limits.CodeBytes)
	if r.Status == http.StatusInternalServerError {
		f.cfg.Log.Error("request failed", "request_id", id, "route", "/mcp", "error", err)
		r.Detail = "something went wrong here; the log has the cause under the request id " + id
	}
	out := short{Output: r.Detail, Status: gateway.Failed, RequestID: id}
	if seconds := int64((r.Retry + time.Second - 1) / time.Second); seconds > 0 {
		out.RetryAfter = seconds
		out.Output = fmt.Sprintf("%s (retry in %d s)", r.Detail, seconds)
	}
	return said(out)
}

// askedOf reads a call's arguments: the tool's own and the handles.
func askedOf(name string, arguments jsontext.Value) (toolcall.Asked, error) {
	h, err := handlesOf(arguments)
	return toolcall.Asked{Name: name, Arguments: arguments, Session: h.Session, Wait: h.Wait}, err
}

func handlesOf(arguments jsontext.Value) (h handles, err error) {
	if len(arguments) == 0 || arguments.Kind() != '{' {
		return h, nil
	}
	err = json.Unmarshal(arguments, &h)
	var shape *json.SemanticError
	if errors.As(err, &shape) {
		field := string(shape.JSONPointer)
		return handles{}, &gateway.InvalidError{Field: field[min(1, len(field)):], Reason: "must be a text (session_id) or a number (wait)"}
	}
	if err != nil {
		return handles{}, &gateway.InvalidError{Field: "arguments", Reason: "must be a JSON object"}
	}
	return h, nil
}

// withSession is a tool's schema with the handles in it.
func withSession(parameters jsontext.Value) jsontext.Value {
	var schema map[string]jsontext.Value
	if json.Unmarshal(parameters, &schema) != nil {
		return parameters
	}
	properties := map[string]jsontext.Value{}
	if own, there := schema["properties"]; there && json.Unmarshal(own, &properties) != nil {
		return parameters
	}
	for name, as := range map[string]string{
		"session_id": `{"type":"string","description":"A session of yours; leave it out for your default session"}`,
		"wait":       `{"type":"number","minimum":0,"description":"Seconds to wait for a cell that runs in the session"}`,
	} {
		if _, own := properties[name]; !own {
			properties[name] = jsontext.Value(as)
		}
	}
	var err error
	if schema["properties"], err = json.Marshal(properties, json.Deterministic(true)); err != nil {
		return parameters
	}
	out, err := json.Marshal(schema, json.Deterministic(true))
	if err != nil {
		return parameters
	}
	return out
}
