package mcp

import (
	"fmt"
	"strings"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/front/toolcall"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// short is the structured content of a call that did not come to a run.
type short struct {
	OK         bool           `json:"ok"`
	Output     string         `json:"output"`
	RequestID  string         `json:"request_id"`
	Status     gateway.Status `json:"status"`
	RetryAfter int64          `json:"retry_after_seconds,omitzero"`
	SessionID  string         `json:"session_id,omitzero"` // of the verbs on sessions
}

// whole is the structured content of a call that came to a run.
type whole struct {
	OK        bool   `json:"ok"`
	Output    string `json:"output"`
	RequestID string `json:"request_id"`
	toolcall.Full
}

func said(s short) *sdk.CallToolResult {
	return &sdk.CallToolResult{
		Content: []sdk.Content{&sdk.TextContent{Text: s.Output}}, StructuredContent: s, IsError: !s.OK,
	}
}

// resultOf is an answer for the model and for programs: the text is the output,
// figures and other products stand behind it as content of their own.
func resultOf(call toolcall.Call, ans gateway.Answer, id string) (*sdk.CallToolResult, error) {
	full := toolcall.FullAnswer(ans)
	output := strings.ToValidUTF8(toolcall.Observation(ans, call.Code), "\uFFFD")
	ok := ans.Status == gateway.Completed
	structured, err := json.Marshal(whole{OK: ok, Output: output, RequestID: id, Full: referring(full, id)}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("encode an answer: %w", err)
	}
	content := []sdk.Content{&sdk.TextContent{Text: output}}
	for i, figure := range full.Figures {
		content = append(content, &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{
			URI: figureURI(id, i), MIMEType: toolcall.FigureType, Text: string(figure),
		}})
	}
	for i, product := range ans.Result.Artifacts {
		if product.MediaType != toolcall.FigureType && fits(product, ans.Limits.ArtifactBytes) {
			content = append(content, contentOf(product, fmt.Sprintf("sluice://product/%s/%d", id, i+1)))
		}
	}
	return &sdk.CallToolResult{Content: content, StructuredContent: jsontext.Value(structured), IsError: !ok}, nil
}

// mostTwice bounds the figures, in bytes, that stand in the structured content as
// well as among the resources: clients bound a message, Python's at 1 MiB.
const mostTwice = 64 << 10

// referring is an answer whose large figures are named by their resources.
func referring(full toolcall.Full, id string) toolcall.Full {
	size := 0
	for _, figure := range full.Figures {
		size += len(figure)
	}
	if size <= mostTwice {
		return full
	}
	named := make([]jsontext.Value, len(full.Figures))
	for i := range named {
		named[i] = jsontext.Value(`{"resource":"` + figureURI(id, i) + `"}`) // an id needs no escape
	}
	full.Figures = named
	return full
}

func figureURI(id string, i int) string { return fmt.Sprintf("sluice://figure/%s/%d", id, i+1) }

func fits(product executor.Artifact, bound uint64) bool {
	return bound == 0 || uint64(len(product.Data)) <= bound
}

// contentOf is a product that is no figure, in the protocol's words.
func contentOf(product executor.Artifact, uri string) sdk.Content {
	family, _, _ := strings.Cut(product.MediaType, "/")
	switch {
	case family == "image":
		return &sdk.ImageContent{Data: product.Data, MIMEType: product.MediaType}
	case family == "audio":
		return &sdk.AudioContent{Data: product.Data, MIMEType: product.MediaType}
	case utf8.Valid(product.Data) && (family == "text" || strings.HasSuffix(product.MediaType, "json")):
		return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: product.MediaType, Text: string(product.Data)}}
	}
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: product.MediaType, Blob: product.Data}}
}
