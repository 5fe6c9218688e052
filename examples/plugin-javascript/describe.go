package main

import (
	"fmt"
	"strings"

	"github.com/sluice-gateway/sluice/executor"
)

// Describe implements executor.Executor.
func (plugin) Describe() executor.Description {
	described := language
	var large strings.Builder
	for i := range 12_000 {
		fmt.Fprintf(&large, "var v%d=1;\n", i)
	}
	described.Samples = []executor.Sample{
		{Kind: "ok", Code: []byte("console.log('hi');\n6 * 7;\n"), WantStdout: []byte("hi\n"), WantValue: "42"},
		{Kind: "syntax_error", Code: []byte("let x = [1, 2;\n")},
		{Kind: "runtime_error", Code: []byte("function half(x) { return x.y.z; }\nhalf({});\n")},
		{Kind: "forever", Code: []byte("for (;;) {}\n")},
		{Kind: "flood", Code: []byte("for (;;) { console.log('spam '.repeat(100)); }\n")},
		{Kind: "alloc", Code: []byte("let blocks = [];\nfor (;;) { blocks.push(new Array(100000).fill(blocks.length)); }\n")},
		{Kind: "canary", Code: []byte("let canary_name = [1].canary_attribute;\n"), WantInTree: []string{"canary_name", "canary_attribute"}},
		{Kind: "large", Code: []byte(large.String())},
	}
	described.Lacks = map[string]string{
		"effect": "a program reaches nothing that outlives its worker",
		"probe":  "a program reaches nothing that outlives its worker",
		"spawn":  "a program starts no process",
	}
	return executor.Description{
		Name: "javascript", Version: "0.1.0", Languages: []executor.Language{described},
		Tools: []executor.Tool{{
			Name: "javascript", Aliases: []string{"js"}, Language: "javascript", SourceArgument: "code",
			Description: "Runs a JavaScript program (strict, without a browser and without modules) and returns what console.log prints and the value of its last expression. At most {wall} seconds.",
			Parameters:  []byte(`{"type":"object","properties":{"code":{"type":"string","description":"Code to execute"}},"required":["code"]}`),
		}},
		Capacity: executor.Capacity{MaxConcurrent: 8, MaxSourceBytes: 1 << 20, MaxTreeBytes: 4 << 20},
		Features: []string{"cancel.soft"},
	}
}
