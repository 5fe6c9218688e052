package main

import (
	"testing"

	"github.com/sluice-gateway/sluice/executor"
)

func TestModulesPrintWithoutPaths(t *testing.T) {
	p := start(t, nil)
	o := run(t, p, "import sympy, math, plotly.graph_objects as go, inspect\nprint(sympy, math, go)\nprint(len(inspect.getsource(sympy.sin)) > 9)\n", granted())
	const want = "<module 'sympy'> <module 'math'> <module 'plotly.graph_objects'>\nTrue\n"
	if o.status() != executor.StatusOK || o.stdout != want {
		t.Errorf("%v %q %q, want %q", o.status(), o.stdout, o.stderr, want)
	}
}
