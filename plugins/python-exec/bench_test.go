package main

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkSubmission is one submission after another through parse, run and
// end, in a warm plugin; p50 and p95 are of single submissions.
func BenchmarkSubmission(b *testing.B) {
	p := start(b, map[string]any{"waiting_children": 4})
	for name, code := range map[string]string{
		"factor":  "import sympy as sp\nprint(sp.factor(12))",
		"trivial": "print(1)",
		"solve":   "import sympy as sp\nx = sp.Symbol('x')\nprint(sp.solve(x**2 - 5*x + 6, x), sp.diff(sp.sin(x)*x, x), sp.integrate(x*sp.exp(x), x))",
		"numpy":   "import numpy as np\na = np.eye(50) * 2\nprint(np.linalg.solve(a, np.ones(50)).sum())",
		"figure":  "import plotly.graph_objects as go\nfig = go.Figure(go.Scatter(x=[1, 2, 3], y=[4, 5, 6]))\nfig.show()",
	} {
		b.Run(name, func(b *testing.B) {
			took := make([]time.Duration, 0, b.N)
			for b.Loop() {
				begin := time.Now()
				if o := run(b, p, code, granted()); o.err != nil || o.Problem != nil {
					b.Fatal(o.err, o.Problem)
				}
				took = append(took, time.Since(begin))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}
