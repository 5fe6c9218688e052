package policy

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/policy/policytest"
)

// maxFuzzed bounds a fuzzed program: the parser's own bounds are tested where it
// lives.
const maxFuzzed = 8 << 10

// hostileTexts are programs that trouble parsers, dumps or places.
func hostileTexts() []string {
	return []string{
		"", "\x00", "\xff\xfe", "\ufeffimport os", "x = 1e999", "x = '\\ud800'", "é = getattr; é.ｓys", "if 1:\n\timport os\r\n\r\tx = eval\r",
		strings.Repeat("-", 500) + "1", "a" + strings.Repeat(".b", 500), strings.Repeat("(", 201), strings.Repeat("x if y else ", 300) + "z",
		"eval;" + strings.Repeat("eval;", 200), "from a import *\nfrom . import b\nfrom .. import *", "f'{x!r:{eval}}'", "'''\n\n'''.__class__; import os",
		"class A(metaclass=type('', (), {})): __slots__ = ()", "match x:\n case A(b=1, **_): pass", "lambda *, __import__=1: 0", "x = 0x" + strings.Repeat("f", 2000),
		"# coding: utf-7\n+AAo-", "\u202eimport os", "def f(a, /, b, *c, d, **e): global x; nonlocal y", "async def f():\n async for x in y: await z", "\f\n\fimport os\f",
		"type X = int\ndef g[T](x: T): ...", "try:\n pass\nexcept* E: pass", "try:\n  try:\n    try:\n      try: 1\n      finally: 2\n    finally: 3\n  finally: 4\nfinally: 5",
		"import numpy as 𝓃𝓅\n𝓃𝓅.load('日本')", "日本 = eval  # ☃", "s = '" + strings.Repeat("__x__", 100) + "'\nimport sympy\nsympy.S(s)",
	}
}

// FuzzProgramToDecision: whatever the text, there is a decision or it does not
// parse; no fault, and every place lies within the text.
func FuzzProgramToDecision(f *testing.F) {
	for _, kind := range []string{"deny", "allow"} {
		files, err := filepath.Glob(shippedPolicies + "/corpus/" + kind + "/*.py")
		if err != nil || len(files) == 0 {
			f.Fatal(kind, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	for _, text := range hostileTexts() {
		f.Add([]byte(text))
	}
	p, python := unprovedShipped(f)
	sections, err := p.Sections("python")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		if len(code) > maxFuzzed {
			return
		}
		tree, ended, err := python.Parse(context.Background(), "python", code, sections)
		if err != nil {
			t.Fatal(err)
		}
		if ended != nil {
			return
		}
		for _, profile := range []string{"solve", "tool"} {
			d, err := p.Decide(context.Background(), gateway.Question{
				Language: "python", Tool: "python", Profile: profile, Caller: "worker",
				Source: executor.Source{Language: "python", Code: code}, Tree: tree,
			})
			if err != nil {
				t.Fatalf("%q: %v", code, err)
			}
			for _, v := range d.Violations {
				within(t, code, v)
			}
		}
	})
}

func unprovedShipped(tb testing.TB) (gateway.Policy, *policytest.Python) {
	tb.Helper()
	s, python := unproved(tb)
	return current(tb, s), python
}

// within wants a violation's place to be in the text, counted in characters.
func within(t *testing.T, code []byte, v gateway.Violation) {
	t.Helper()
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(code), "\ufeff"))
	lines := strings.Split(text, "\n")
	if v.Line < 1 || v.EndLine < v.Line || v.EndLine > len(lines) || v.Column < 1 || v.EndColumn < 1 {
		t.Errorf("%q: %s at %d:%d-%d:%d of %d lines", code, v.Rule, v.Line, v.Column, v.EndLine, v.EndColumn, len(lines))
		return
	}
	if first, last := len([]rune(lines[v.Line-1])), len([]rune(lines[v.EndLine-1])); v.Column > first+1 || v.EndColumn > last+1 {
		t.Errorf("%q: %s at %d:%d-%d:%d of lines of %d and %d", code, v.Rule, v.Line, v.Column, v.EndLine, v.EndColumn, first, last)
	}
}
