package main

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkCell is one cell after another of one session, through parse, run
// and end.
func BenchmarkCell(b *testing.B) {
	n := openSession(b, start(b, map[string]any{"waiting_children": 4}), "a")
	for _, bench := range []struct {
		name, code string
		pause      time.Duration
	}{
		{"trivial", "1 + 1", 0},
		{"trivial paced", "1 + 1", 60 * time.Millisecond},
		{"factor", "import sympy as sp\nprint(sp.factor(12))", 0},
	} {
		b.Run(bench.name, func(b *testing.B) {
			took := make([]time.Duration, 0, b.N)
			for b.Loop() {
				begin := time.Now()
				if o := n.cell(b, bench.code); o.err != nil || o.Problem != nil {
					b.Fatal(o.err, o.Problem)
				}
				took = append(took, time.Since(begin))
				time.Sleep(bench.pause)
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}
