// Command mcp-client runs the clients' scenario with github.com/mark3labs/mcp-go.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

const cell = "stateful_python_code_exec"

func main() {
	if err := scenario(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func connect(ctx context.Context, url string) (*client.Client, error) {
	c, err := client.NewStreamableHttpClient(url+"/mcp", transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + os.Getenv("GATEWAY_TOKEN")}))
	if err != nil {
		return nil, err
	}
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "mcp-go", Version: "1"}
	_, err = c.Initialize(ctx, hello)
	return c, err
}

func call(ctx context.Context, c *client.Client, name string, arguments map[string]any) (text, figure string, failed bool, err error) {
	req := mcp.CallToolRequest{}
	req.Params.Name, req.Params.Arguments = name, arguments
	res, err := c.CallTool(ctx, req)
	if err != nil {
		return "", "", false, err
	}
	for _, content := range res.Content {
		switch content := content.(type) {
		case mcp.TextContent:
			text = content.Text
		case mcp.EmbeddedResource:
			if r, ok := content.Resource.(mcp.TextResourceContents); ok {
				figure = r.Text
			}
		}
	}
	return text, figure, res.IsError, nil
}

func scenario(ctx context.Context) error {
	c, err := connect(ctx, os.Getenv("GATEWAY_URL"))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer c.Close()
	list, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil || !slices.ContainsFunc(list.Tools, func(t mcp.Tool) bool { return t.Name == cell }) {
		return fmt.Errorf("list the tools: %w %v", err, list)
	}
	for _, step := range []struct {
		code, text string
		failed     bool
	}{{"kept = 41", "None", false}, {"kept + 1", "42", false}, {"import os", "hint: ", true}} {
		text, _, failed, err := call(ctx, c, cell, map[string]any{"code": step.code})
		if err != nil || !strings.Contains(text, step.text) || failed != step.failed {
			return fmt.Errorf("%q: %q, failed %v: %w", step.code, text, failed, err)
		}
	}
	_, figure, _, err := call(ctx, c, cell, map[string]any{"code": "import plotly.graph_objects as go\ngo.Figure(go.Scatter(x=[1, 2], y=[3, 4]))"})
	if err != nil || !json.Valid([]byte(figure)) || !strings.Contains(figure, `"y":[3,4]`) {
		return fmt.Errorf("the figure: %q: %w", figure, err)
	}
	return hurried(ctx, len(list.Tools))
}

func hurried(ctx context.Context, tools int) error {
	c, err := connect(ctx, os.Getenv("SHORT_URL"))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer c.Close()
	late, _, failed, err := call(ctx, c, cell, map[string]any{"code": "while True:\n    pass"})
	if err != nil || !failed || !strings.Contains(late, "timed out after") {
		return fmt.Errorf("the time-out: %q, failed %v: %w", late, failed, err)
	}
	fmt.Printf("{\"tools\":%d,\"late\":%q}\n", tools, late)
	return nil
}
