package main

import (
	"strings"

	"github.com/sluice-gateway/sluice/executor"
)

// samples are the programs of the conformance suite. "forever" is a modular
// power whose million squarings of a million bits take hours; "alloc" adds
// integers of 128 KiB until their budget is spent.
func samples() []executor.Sample {
	return []executor.Sample{
		{Kind: "ok", Code: []byte("12.5 * (3 + 4)"), WantValue: "87.5"},
		{Kind: "syntax_error", Code: []byte("2 +* 3")},
		{Kind: "runtime_error", Code: []byte("1 / 0")},
		{Kind: "forever", Code: []byte("pow(3, 1 << 1000000, (1 << 1000000) + 1)")},
		{Kind: "alloc", Code: []byte("0" + strings.Repeat(" + (1 << 1000000)", 600))},
		{Kind: "large", Code: []byte("max(" + strings.Repeat("1, ", 10_000) + "1)")},
		{Kind: "canary", Code: []byte("canary_7f3a + sqrt(2)"), WantInTree: []string{"canary_7f3a", "sqrt"}},
	}
}

// lacks says which samples an expression cannot be.
func lacks() map[string]string {
	return map[string]string{
		"flood":  "an expression writes nothing; its one value is bounded",
		"effect": "an expression changes nothing",
		"probe":  "an expression changes nothing",
		"spawn":  "an expression starts no process",
	}
}
