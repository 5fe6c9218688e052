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
		fmt.Fprintf(&large, "v%d = 1\n", i)
	}
	described.Samples = []executor.Sample{
		{Kind: "ok", Code: []byte("print('hi')\n6 * 7\n"), WantStdout: []byte("hi\n"), WantValue: "42"},
		{Kind: "syntax_error", Code: []byte("x = [1, 2\nprint(x)\n")},
		{Kind: "runtime_error", Code: []byte("def half(x):\n    return 1 // x\nhalf(0)\n")},
		{Kind: "forever", Code: []byte("while True:\n    pass\n")},
		{Kind: "flood", Code: []byte("while True:\n    print('spam ' * 100)\n")},
		{Kind: "alloc", Code: []byte("blocks = []\nwhile True:\n    blocks.append('x' * 1000000 + str(len(blocks)))\n")},
		{Kind: "canary", Code: []byte("canary_name = [1].canary_attribute\n"), WantInTree: []string{"canary_name", "canary_attribute"}},
		{Kind: "large", Code: []byte(large.String())},
	}
	described.Lacks = map[string]string{
		"effect": "a program reaches nothing that outlives its worker",
		"probe":  "a program reaches nothing that outlives its worker",
		"spawn":  "a program starts no process",
	}
	return executor.Description{
		Name: "starlark", Version: "0.1.0", Languages: []executor.Language{described},
		Tools: []executor.Tool{{
			Name: "starlark", Language: "starlark", SourceArgument: "code",
			Description: "Runs a Starlark program (a small, deterministic Python) and returns what it prints and the value of its last expression. At most {wall} seconds.",
			Parameters:  []byte(`{"type":"object","properties":{"code":{"type":"string","description":"Code to execute"}},"required":["code"]}`),
		}},
		Capacity: executor.Capacity{MaxConcurrent: 8, MaxSourceBytes: 1 << 20, MaxTreeBytes: 4 << 20},
		Features: []string{"cancel.soft"},
	}
}
