package main

import (
	_ "embed"
	"regexp"
	"strings"

	"github.com/sluice-gateway/sluice/executor"
)

const (
	pluginVersion = "0.1.0"
	languageID    = "python"
	treeSchema    = "pyast/1"
	maxTreeBytes  = 16 << 20
	maxSource     = 1 << 20
)

//go:embed requirements.lock
var lockText string

var pinned = regexp.MustCompile(`(?m)^([a-z0-9-]+)==(\S+)`)

const codeParameters = `{"type":"object","properties":{"code":{"type":"string","description":"Code to execute"}},"required":["code"]}`

// Describe implements executor.Executor.
func (p *plugin) Describe() executor.Description {
	return executor.Description{
		Name:    "python-exec",
		Version: pluginVersion,
		Languages: []executor.Language{{
			ID: languageID,
			// The interpreter is chosen by Configure; this is the oldest that will do.
			Version: "3.11", Grammar: "3.11",
			TreeSchema: treeSchema, Schema: schemaText(),
			MediaTypes: []string{"text/x-python"},
			Samples:    samples(),
		}},
		Tools:        tools(),
		ConfigSchema: []byte(configSchema),
		Libraries:    libraries(),
		Capacity:     executor.Capacity{MaxConcurrent: mostChildren / 2, MaxSessions: mostSessions, MaxSourceBytes: maxSource, MaxTreeBytes: maxTreeBytes},
		Features:     []string{"cancel.soft", executor.FeatureParseWait},
	}
}

func tools() []executor.Tool {
	return []executor.Tool{
		{
			Name:           "python",
			Language:       languageID,
			Description:    "Runs Python with NumPy, SymPy, mpmath and Plotly and returns what it prints and the value of its last expression. Called as a tool it is a cell of the same session as stateful_python_code_exec: names of earlier cells are there. It times out after {wall} seconds.",
			Parameters:     []byte(codeParameters),
			SourceArgument: "code",
		},
		{
			Name:           "stateful_python_code_exec",
			Aliases:        []string{"python_code_exec", "code_interpreter", "python_exec"},
			Language:       languageID,
			Description:    "Runs a cell of Python in a session that stays, as in a notebook: names and imports of earlier cells are there, NumPy, SymPy and mpmath can be imported. It answers with what the cell prints and the value of its last expression, or times out after {wall} seconds.",
			Parameters:     []byte(codeParameters),
			SourceArgument: "code",
			Stateful:       true,
		},
	}
}

func samples() []executor.Sample {
	return []executor.Sample{
		{Kind: "ok", Code: []byte("import sympy as sp\nprint(sp.factor(12))\n"), WantStdout: []byte("12\n")},
		{Kind: "ok", Code: []byte("x = 20\nx + 22\n"), WantValue: "42"},
		{Kind: "syntax_error", Code: []byte("values = [1, 2, 3\nprint(sum(values))\n")},
		{Kind: "runtime_error", Code: []byte("for k in range(3):\n    print(1 / (1 - k))\n")},
		{Kind: "forever", Code: []byte("while True:\n    pass\n")},
		{Kind: "flood", Code: []byte("while True:\n    print('spam ' * 100)\n")},
		{Kind: "alloc", Code: []byte("blocks = []\nwhile True:\n    blocks.append(bytearray(1 << 22))\n")},
		{Kind: "effect", Code: []byte("import math\nmath.pi = 3\n")},
		{Kind: "probe", Code: []byte("import math\nprint(math.pi)\n"), WantStdout: []byte("3.141592653589793\n")},
		{Kind: "spawn", Code: []byte("import os\nimport time\nfor k in range(4):\n    try:\n        if os.fork() == 0:\n            time.sleep(60)\n    except OSError:\n        pass\n")},
		{Kind: "large", Code: []byte(strings.Repeat("large_name = [1, 2, 3]\n", 6000))},
		{Kind: "keep", Code: []byte("kept_value = 41\n")},
		{Kind: "recall", Code: []byte("print(kept_value + 1)\n"), WantStdout: []byte("42\n")},
		{Kind: "canary", Code: []byte("import numpy as canary_alias\ncanary_name = canary_alias.arange(3).canary_attribute\n"), WantInTree: []string{"canary_name", "canary_alias", "canary_attribute"}},
	}
}

//go:embed pyast-1.json
var schemaJSON string

func schemaText() []byte { return []byte(schemaJSON) }
