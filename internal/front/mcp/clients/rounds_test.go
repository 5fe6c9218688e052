//nolint:staticcheck // what the suite of 2025-11-25 wants to see is deprecated since
package clients

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// addRounds adds the tools that want several rounds: each answer says what is
// still to be told, and a state that comes back with it.
func addRounds(s *sdk.Server) {
	name := func(in sdk.InputResponseMap) string {
		text, _ := accepted(in, "user_name")["name"].(string)
		return text
	}
	round(s, "elicitation", func(p *sdk.CallToolParamsRaw, _ *sdk.ClientCapabilities) (*sdk.CallToolResult, error) {
		if who := name(p.InputResponses); who != "" {
			return said("Hello, " + who + "!"), nil
		}
		return asks("", sdk.InputRequestMap{"user_name": asksFor("name")}), nil
	})
	round(s, "sampling", func(p *sdk.CallToolParamsRaw, _ *sdk.ClientCapabilities) (*sdk.CallToolResult, error) {
		if text, told := sampled(p.InputResponses, "capital_question"); told {
			return said(text), nil
		}
		return asks("", sdk.InputRequestMap{"capital_question": samples("What is the capital of France?")}), nil
	})
	round(s, "list_roots", func(p *sdk.CallToolParamsRaw, _ *sdk.ClientCapabilities) (*sdk.CallToolResult, error) {
		if _, told := p.InputResponses["client_roots"].(*sdk.ListRootsResult); told {
			return said("the roots are known"), nil
		}
		return asks("", sdk.InputRequestMap{"client_roots": &sdk.ListRootsParams{}}), nil
	})
	for _, which := range []string{"request_state", "tampered_state"} {
		round(s, which, confirm)
	}
	round(s, "multiple_inputs", func(p *sdk.CallToolParamsRaw, _ *sdk.ClientCapabilities) (*sdk.CallToolResult, error) {
		_, greeted := sampled(p.InputResponses, "greeting")
		_, rooted := p.InputResponses["client_roots"].(*sdk.ListRootsResult)
		if name(p.InputResponses) != "" && greeted && rooted {
			return said("all was told"), nil
		}
		return asks("several", sdk.InputRequestMap{"user_name": asksFor("name"), "greeting": samples("Generate a greeting"), "client_roots": &sdk.ListRootsParams{}}), nil
	})
	round(s, "multi_round", func(p *sdk.CallToolParamsRaw, _ *sdk.ClientCapabilities) (*sdk.CallToolResult, error) {
		switch p.RequestState {
		case "":
			return asks("first", sdk.InputRequestMap{"step1": asksFor("name")}), nil
		case "first":
			return asks("second", sdk.InputRequestMap{"step2": asksFor("color")}), nil
		}
		return said("both rounds are over"), nil
	})
	round(s, "capabilities", capable)
}

func round(s *sdk.Server, which string, do func(*sdk.CallToolParamsRaw, *sdk.ClientCapabilities) (*sdk.CallToolResult, error)) {
	add(s, "test_input_required_result_"+which, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return do(req.Params, req.ClientCapabilities())
	})
}

func asks(state string, what sdk.InputRequestMap) *sdk.CallToolResult {
	return &sdk.CallToolResult{InputRequests: what, RequestState: state}
}

func sampled(in sdk.InputResponseMap, name string) (text string, told bool) {
	res, ok := in[name].(*sdk.CreateMessageWithToolsResult)
	if !ok || res == nil {
		return "", false
	}
	for _, c := range res.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			return t.Text, true
		}
	}
	return "", true
}

// confirm wants a confirmation, and its own state back as it was.
func confirm(p *sdk.CallToolParamsRaw, _ *sdk.ClientCapabilities) (*sdk.CallToolResult, error) {
	const state = "confirm-1"
	switch {
	case p.RequestState != "" && p.RequestState != state:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the state is not the one that was given"}
	case p.RequestState == state && accepted(p.InputResponses, "confirm") != nil:
		return said("state-ok: confirmed"), nil
	}
	return asks(state, sdk.InputRequestMap{"confirm": &sdk.ElicitParams{Message: "Please confirm", RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{"ok": map[string]any{"type": "boolean"}}, "required": []string{"ok"},
	}}}), nil
}

// capable asks for what its client can give.
func capable(p *sdk.CallToolParamsRaw, have *sdk.ClientCapabilities) (*sdk.CallToolResult, error) {
	what := sdk.InputRequestMap{}
	if have != nil && have.Elicitation != nil {
		what["user_name"] = asksFor("name")
	}
	if have != nil && have.Sampling != nil {
		what["greeting"] = samples("Generate a short greeting")
	}
	if len(p.InputResponses) > 0 || len(what) == 0 {
		return said(strings.TrimSpace("nothing more is needed")), nil
	}
	return asks("", what), nil
}
