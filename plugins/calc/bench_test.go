package main

import "testing"

func BenchmarkSolve(b *testing.B) {
	for name, expression := range map[string]string{
		"sum": "12.5 * (3 + 4)", "interest": "(1 + 0.05/12) ** 360", "sine": "sin(pi / 6)", "factorial": "factorial(200)",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				solve(b.Context(), b, expression)
			}
		})
	}
}
