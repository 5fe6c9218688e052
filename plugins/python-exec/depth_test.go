package main

import (
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// TestDepth: a program that asks for endless recursion gets a RecursionError
// soon, whatever its calls go through, and one that needs depth has it.
func TestDepth(t *testing.T) {
	p := start(t, nil)
	const endless = "import sys\nsys.setrecursionlimit(10**9)\n"
	for name, code := range map[string]string{
		"calls":     "def f(): f()\nf()",
		"operator":  "class A:\n    def __add__(s, o): return s + o\nA() + 1",
		"sort key":  "def f(x): return sorted([1, 2], key=f)\nf(1)",
		"attribute": "class A:\n    def __getattr__(s, n): return getattr(s, n)\nA().x",
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			o := run(t, p, endless+code, granted())
			if o.status() != executor.StatusRuntimeError || o.Problem.Type != "RecursionError" {
				t.Fatalf("%v %v %+v", o.status(), o.err, o.Problem)
			}
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("took %v", took)
			}
		})
	}
	o := run(t, p, endless+"def depth(n): return n and 1 + depth(n - 1)\nprint(depth(15000))", granted())
	if o.stdout != "15000\n" {
		t.Errorf("15,000 levels: %v %q %+v", o.status(), o.stdout, o.Problem)
	}
	o = run(t, p, "import sys\nsys.setrecursionlimit(19000)\ndef f(n): return f(n + 1) if n < 15000 else [1 / 0\n  ]\nf(0)", granted())
	if o.Problem == nil || o.Problem.Line != 3 || !strings.Contains(o.Problem.Trace, "1 / 0") {
		t.Errorf("a deep error: %v %+v", o.status(), o.Problem)
	}
	if o := run(t, p, "import sys\nsys.setrecursionlimit('x')", granted()); o.Problem == nil || o.Problem.Type != "TypeError" {
		t.Errorf("a limit that is no number: %v %+v", o.status(), o.Problem)
	}
}
