package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkSubmission is one submission after another through parse, run and
// end, in a warm plugin; p50 and p95 are of single submissions. cpu is what the
// interpreter and its children took for each, the refill of the pool included.
func BenchmarkSubmission(b *testing.B) {
	p := start(b, map[string]any{"waiting_children": 4})
	for _, bench := range []struct {
		name, code string
		pause      time.Duration
	}{
		{"factor", "import sympy as sp\nprint(sp.factor(12))", 0},
		{"factor paced", "import sympy as sp\nprint(sp.factor(12))", 60 * time.Millisecond},
		{"trivial", "print(1)", 0},
		{"solve", "import sympy as sp\nx = sp.Symbol('x')\nprint(sp.solve(x**2 - 5*x + 6, x), sp.diff(sp.sin(x)*x, x), sp.integrate(x*sp.exp(x), x))", 0},
		{"numpy", "import numpy as np\na = np.eye(50) * 2\nprint(np.linalg.solve(a, np.ones(50)).sum())", 0},
		{"figure", "import plotly.graph_objects as go\nfig = go.Figure(go.Scatter(x=[1, 2, 3], y=[4, 5, 6]))\nfig.show()", 0},
	} {
		b.Run(bench.name, func(b *testing.B) {
			took := make([]time.Duration, 0, b.N)
			before := treeCPU(b, p.zygotePID())
			for b.Loop() {
				begin := time.Now()
				if o := run(b, p, bench.code, granted()); o.err != nil || o.Problem != nil {
					b.Fatal(o.err, o.Problem)
				}
				took = append(took, time.Since(begin))
				time.Sleep(bench.pause)
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
			b.ReportMetric((treeCPU(b, p.zygotePID())-before)/float64(len(took)), "cpu-ms")
		})
	}
}

// BenchmarkWallsCost is what the walls cost a submission on the hot path: one with
// all of them and one with none but rlimits and clean-start, in turn, each with a
// child that waits. There is no setting that leaves walls out; tests alone can.
func BenchmarkWallsCost(b *testing.B) {
	sides := []struct {
		name string
		p    *plugin
		took []time.Duration
	}{
		{name: "with", p: start(b, map[string]any{"waiting_children": 4})},
		{name: "without", p: startLess(b, map[string]any{"waiting_children": 4}, lessened{
			apart: byGroup, without: []string{wallLandlock, wallSeccomp, wallNamespaces, wallRoot, wallCgroup},
		})},
	}
	for b.Loop() {
		for i := range sides {
			time.Sleep(30 * time.Millisecond) // the other side's replacement is made
			begin := time.Now()
			if o := run(b, sides[i].p, "import sympy as sp\nprint(sp.factor(12))", granted()); o.stdout != "12\n" {
				b.Fatal(o.status(), o.err)
			}
			sides[i].took = append(sides[i].took, time.Since(begin))
		}
	}
	p50 := [2]float64{}
	for i, side := range sides {
		slices.Sort(side.took)
		p50[i] = float64(side.took[len(side.took)/2].Microseconds()) / 1000
		b.ReportMetric(p50[i], side.name+"-p50-ms")
	}
	b.ReportMetric(p50[0]-p50[1], "cost-p50-ms")
}

// treeCPU is the processor time of a process and of the children that it has
// seen to their end, in ms.
func treeCPU(tb testing.TB, pid int) float64 {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		tb.Fatal(err)
	}
	words := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	sum := 0.0
	for _, word := range words[11:15] { // utime, stime, cutime, cstime, in ticks of 10 ms
		ticks, err := strconv.ParseFloat(word, 64)
		if err != nil {
			tb.Fatal(err)
		}
		sum += ticks * 10
	}
	return sum
}
