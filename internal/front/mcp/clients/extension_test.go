//nolint:staticcheck // what the suite of 2025-11-25 wants to see is deprecated since
package clients

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/yosida95/uritemplate/v3"

	"github.com/sluice-gateway/sluice/internal/front/mcp"
)

// extension offers what the suite wants and no plugin can describe: prompts,
// resources, and tools that ask their client for something.
func extension() mcp.Extension {
	return mcp.Extension{
		Options: func(o *sdk.ServerOptions) {
			o.Capabilities.Logging = &sdk.LoggingCapabilities{}
			o.CompletionHandler = func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
				return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{"paris", "park"}, Total: 2}}, nil
			}
			o.SubscribeHandler = func(context.Context, *sdk.SubscribeRequest) error { return nil }
			o.UnsubscribeHandler = func(context.Context, *sdk.UnsubscribeRequest) error { return nil }
		},
		Server: func(s *sdk.Server) {
			addResources(s)
			addPrompts(s)
			addAsking(s)
			addRounds(s)
			addChanging(s)
		},
	}
}

func addResources(s *sdk.Server) {
	read := func(contents sdk.ResourceContents) sdk.ResourceHandler {
		return func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			c := contents
			c.URI = req.Params.URI
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{&c}}, nil
		}
	}
	for uri, c := range map[string]sdk.ResourceContents{
		"test://static-text":      {MIMEType: "text/plain", Text: "This is the content of the static text resource."},
		"test://static-binary":    {MIMEType: "image/png", Blob: []byte(decoded(png))},
		"test://watched-resource": {MIMEType: "text/plain", Text: "watched"},
	} {
		s.AddResource(&sdk.Resource{URI: uri, Name: strings.TrimPrefix(uri, "test://"), MIMEType: c.MIMEType}, read(c))
	}
	template := uritemplate.MustNew("test://template/{id}/data")
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: template.Raw(), Name: "template", MIMEType: "application/json"},
		func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			id := template.Match(req.Params.URI).Get("id").String()
			text, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, MIMEType: "application/json", Text: string(text)}}}, err
		})
}

func addPrompts(s *sdk.Server) {
	says := func(of func(arguments map[string]string) []sdk.Content) sdk.PromptHandler {
		return func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			out := &sdk.GetPromptResult{}
			for _, c := range of(req.Params.Arguments) {
				out.Messages = append(out.Messages, &sdk.PromptMessage{Role: "user", Content: c})
			}
			return out, nil
		}
	}
	text := func(t string) sdk.Content { return &sdk.TextContent{Text: t} }
	s.AddPrompt(&sdk.Prompt{Name: "test_simple_prompt", Description: "Of the conformance suite."}, says(func(map[string]string) []sdk.Content {
		return []sdk.Content{text("This is a simple prompt for testing.")}
	}))
	s.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_arguments", Description: "Of the conformance suite.", Arguments: []*sdk.PromptArgument{{Name: "arg1", Required: true}, {Name: "arg2", Required: true}}},
		says(func(a map[string]string) []sdk.Content {
			return []sdk.Content{text("Prompt with arguments: arg1='" + a["arg1"] + "', arg2='" + a["arg2"] + "'")}
		}))
	s.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_embedded_resource", Description: "Of the conformance suite.", Arguments: []*sdk.PromptArgument{{Name: "resourceUri", Required: true}}},
		says(func(a map[string]string) []sdk.Content {
			return []sdk.Content{
				&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: a["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing."}},
				text("Please process the embedded resource above."),
			}
		}))
	s.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_image", Description: "Of the conformance suite."}, says(func(map[string]string) []sdk.Content {
		return []sdk.Content{&sdk.ImageContent{Data: []byte(decoded(png)), MIMEType: "image/png"}, text("Please analyze the image above.")}
	}))
	s.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "Of the conformance suite."}, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		if given := accepted(req.Params.InputResponses, "user_context"); given != nil {
			told, _ := given["context"].(string)
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: text("Context: " + told)}}}, nil
		}
		return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{"user_context": asksFor("context")}}, nil
	})
}

// addAsking adds the tools that ask their client while they run, which the older
// protocol allows, and those that write to its log.
func addAsking(s *sdk.Server) {
	add(s, "test_sampling", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		res, err := req.Session.CreateMessage(ctx, samples("Test prompt for sampling"))
		if err != nil {
			return nil, err
		}
		answer, _ := res.Content.(*sdk.TextContent)
		return said("LLM response: " + answer.Text), nil
	})
	for name, schema := range map[string]string{
		"test_elicitation":                  `{"type":"object","properties":{"username":{"type":"string"},"email":{"type":"string"}},"required":["username"]}`,
		"test_elicitation_sep1034_defaults": `{"type":"object","properties":{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}`,
		"test_elicitation_sep1330_enums": `{"type":"object","properties":{"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
			"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
			"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
			"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
			"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}}`,
	} {
		add(s, name, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			var wanted map[string]any
			if err := json.Unmarshal([]byte(schema), &wanted); err != nil {
				return nil, err
			}
			res, err := req.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Please answer", RequestedSchema: wanted})
			if err != nil {
				return nil, err
			}
			given, err := json.Marshal(res.Content)
			return said("Elicitation completed: action=" + res.Action + ", content=" + string(given)), err
		})
	}
	for name, lines := range map[string][]string{
		"test_tool_with_logging": {"Tool execution started", "Tool processing data", "Tool execution completed"}, "test_logging_tool": {"executed"},
	} {
		add(s, name, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			for _, line := range lines {
				_ = req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: line})
				time.Sleep(50 * time.Millisecond) // as the suite says
			}
			return said("done"), nil
		})
	}
	add(s, "test_missing_capability", func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if have := req.ClientCapabilities(); have != nil && have.Sampling != nil {
			return said("done"), nil
		}
		data, err := json.Marshal(sdk.MissingRequiredClientCapabilityData{RequiredCapabilities: &sdk.ClientCapabilities{Sampling: &sdk.SamplingCapabilities{}}})
		if err != nil {
			return nil, err
		}
		return nil, &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "sampling is needed", Data: data}
	})
}

// addChanging adds the tools that change what is offered.
func addChanging(s *sdk.Server) {
	add(s, "test_trigger_tool_change", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		add(s, "passing", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return said("gone soon"), nil
		})
		return said("changed"), nil
	})
	add(s, "test_trigger_prompt_change", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		s.AddPrompt(&sdk.Prompt{Name: "passing", Description: "Of the conformance suite."}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{}, nil
		})
		return said("changed"), nil
	})
}

func add(s *sdk.Server, name string, do sdk.ToolHandler) {
	s.AddTool(&sdk.Tool{Name: name, Description: "Of the conformance suite.", InputSchema: json.RawMessage(anyObject)}, do)
}

func said(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

func samples(text string) *sdk.CreateMessageParams {
	return &sdk.CreateMessageParams{MaxTokens: 100, Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}}}
}

func asksFor(field string) *sdk.ElicitParams {
	return &sdk.ElicitParams{Message: "Please tell your " + field, RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{field: map[string]any{"type": "string"}}, "required": []string{field},
	}}
}

// accepted is what a client answered to a question; nil when it did not.
func accepted(given sdk.InputResponseMap, name string) map[string]any {
	answer, ok := given[name].(*sdk.ElicitResult)
	if !ok || answer == nil || answer.Action != "accept" {
		return nil
	}
	return answer.Content
}
