package clients

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// fixture is a plugin whose tools do what the conformance suite wants to see.
type fixture struct{}

const anyObject = `{"type":"object","properties":{}}`

// schema2020 has every keyword that the suite looks for in a list of tools.
const schema2020 = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},
"phone":{"type":"string"},"email":{"type":"string"}},
"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},
"additionalProperties":false}`

const headerSchema = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`

// png and wav are a picture of one point and a sound of no length.
const (
	png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
	wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
)

type product struct{ mediaType, data string }

// scene is what a tool prints and makes.
type scene struct {
	parameters string
	prints     []string // with a pause between
	products   []product
	fails      string
}

func scenes() map[string]scene {
	picture := product{"image/png", decoded(png)}
	return map[string]scene{
		"test_simple_text":            {prints: []string{"This is a simple text response for testing."}},
		"test_image_content":          {products: []product{picture}},
		"test_audio_content":          {products: []product{{"audio/wav", decoded(wav)}}},
		"test_embedded_resource":      {products: []product{{"text/plain", "This is an embedded resource content."}}},
		"test_multiple_content_types": {prints: []string{"Multiple content types test:"}, products: []product{picture, {"application/json", `{"test":"data","value":123}`}}},
		"test_tool_with_progress":     {prints: strings.SplitAfter("one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n", "\n")},
		"test_streaming_elicitation":  {prints: []string{"nothing is asked of the client\n"}},
		"test_error_handling":         {fails: "This tool intentionally returns an error for testing"},
		"json_schema_2020_12_tool":    {parameters: schema2020, prints: []string{"called"}},
		"test_x_mcp_header":           {parameters: headerSchema, prints: []string{"called"}},
	}
}

func decoded(text string) string {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// Describe implements executor.Executor.
func (fixture) Describe() executor.Description {
	d := executor.Description{
		Name: "fixture", Version: "0.0.1",
		Languages: []executor.Language{{ID: "fixture", Version: "1", TreeSchema: "fixture/1", Grammar: "1"}},
		Capacity:  executor.Capacity{MaxConcurrent: 16, MaxSourceBytes: 1 << 16, MaxTreeBytes: 1 << 16},
	}
	for name, s := range scenes() {
		parameters := s.parameters
		if parameters == "" {
			parameters = anyObject
		}
		d.Tools = append(d.Tools, executor.Tool{Name: name, Language: "fixture", Description: "Of the conformance suite.", Parameters: []byte(parameters)})
	}
	return d
}

// Parse implements executor.Executor.
func (fixture) Parse(_ context.Context, src executor.Source) (executor.Program, error) {
	s, known := scenes()[src.Tool]
	if !known {
		return nil, &executor.CompileError{Problem: executor.Problem{Type: "ToolError", Message: "no such tool: " + src.Tool, Line: 1}}
	}
	tree := fmt.Sprintf(`{"schema":"fixture/1","language":"fixture","code":{"sha256":"%x"},"ast":{}}`, src.Digest())
	return &executor.Prog{Doc: executor.Tree{Schema: "fixture/1", JSON: []byte(tree), Nodes: 1, Depth: 1}, Do: s.play}, nil
}

// play prints and makes what the scene says.
func (s scene) play(ctx context.Context, _ executor.Grant, out executor.Output) (executor.Result, error) {
	for i, text := range s.prints {
		if i > 0 {
			select {
			case <-ctx.Done():
				return executor.Result{}, context.Cause(ctx)
			case <-time.After(100 * time.Millisecond): // a tool that takes its time: what it tells is not to run together
			}
		}
		if _, err := io.WriteString(out.Stdout(), text); err != nil {
			return executor.Result{}, err
		}
	}
	for i, p := range s.products {
		if err := out.Artifact(p.mediaType, fmt.Sprintf("product-%d", i+1), bytes.Clone([]byte(p.data))); err != nil {
			return executor.Result{}, err
		}
	}
	if s.fails != "" {
		return executor.Result{}, &executor.RuntimeError{Problem: executor.Problem{Type: "ToolError", Message: s.fails}}
	}
	return executor.Result{}, nil
}
