package mcp

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sluice-gateway/sluice/internal/front/toolcall"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// The verbs on sessions, as tools.
const (
	resetTool = "session_reset"
	forkTool  = "session_fork"
)

const verbParameters = `{"type":"object","properties":{` +
	`"session_id":{"type":"string","description":"A session of yours; leave it out for your default session"},` +
	`"wait":{"type":"number","minimum":0,"description":"Seconds to wait for a cell that runs in the session"}}}`

func (f *Front) sessionTools() []offering {
	yes, no := true, false
	schema, out := jsontext.Value(verbParameters), jsontext.Value(answerSchema)
	return []offering{
		{&sdk.Tool{
			Name: resetTool, InputSchema: schema, OutputSchema: out,
			Description: "Empties a session: what its cells made is gone, the session keeps its id.",
			Annotations: &sdk.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &no, IdempotentHint: true},
		}, f.verb(f.reset)},
		{&sdk.Tool{
			Name: forkTool, InputSchema: schema, OutputSchema: out,
			Description: "Makes a second session that starts from the state of this one, and answers with its session_id: try something there without losing what you have.",
			Annotations: &sdk.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no},
		}, f.verb(f.fork)},
	}
}

// onSession does something with a session of by's caller; id is its own or empty
// for the default one.
type onSession func(ctx context.Context, by gateway.Request, id string, h handles) (short, error)

// verb serves a verb on the session that a call names.
func (f *Front) verb(do onSession) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return f.answer(ctx, req, func(ctx context.Context, by gateway.Request) (*sdk.CallToolResult, error) {
			h, err := handlesOf(jsontext.Value(req.Params.Arguments))
			if err != nil {
				return nil, err
			}
			if _, err := toolcall.CellOf(h.Session, h.Wait); err != nil {
				return nil, err
			}
			id, err := f.sessionOf(ctx, by.Caller, h.Session)
			if err != nil {
				return nil, err
			}
			done, err := do(ctx, by, id, h)
			if err != nil {
				return nil, err
			}
			done.OK, done.Status, done.RequestID = true, gateway.Completed, by.ID
			return said(done), nil
		})
	}
}

// sessionOf is the session that a call names, or the caller's default one; empty
// when there is none yet.
func (f *Front) sessionOf(ctx context.Context, caller gateway.Caller, named *string) (string, error) {
	if named != nil {
		return *named, nil
	}
	views, err := f.cfg.Gateway.Sessions(ctx, caller)
	if err != nil {
		return "", err
	}
	for _, v := range views {
		if v.Default {
			return v.ID, nil
		}
	}
	return "", nil
}

func (f *Front) reset(ctx context.Context, by gateway.Request, id string, h handles) (short, error) {
	if id == "" {
		return short{Output: "there is no default session yet: it is empty"}, nil
	}
	wait, err := toolcall.WaitOf(h.Wait)
	if err != nil {
		return short{}, err
	}
	view, err := f.cfg.Gateway.ResetSession(ctx, by.Caller, id, wait)
	return short{Output: "the session is empty", SessionID: view.ID}, err
}

func (f *Front) fork(ctx context.Context, by gateway.Request, id string, h handles) (short, error) {
	if id == "" {
		return short{}, &gateway.InvalidError{Field: "session_id", Reason: "there is no default session yet: run a cell first"}
	}
	wait, err := toolcall.WaitOf(h.Wait)
	if err != nil {
		return short{}, err
	}
	view, err := f.cfg.Gateway.ForkSession(ctx, by.Caller, id, wait)
	return short{Output: "session_id: " + view.ID, SessionID: view.ID}, err
}
