// Command calc is the calculator: an executor plugin that evaluates one
// expression in Python's syntax, in Go alone and in its own process.
//
// A text goes through lexer.go (tokens), parser.go and atoms.go (tree), tree.go
// (what the policy sees) and, when approved, eval.go (the value). Begin with
// plugin.go. Numbers are in ints.go, floats.go and complexes.go, the functions
// in func*.go, and exactly rounded elementary functions in elementary.go over
// kernel.go.
//
// It must never compute an integer of more than 2^20 bits, loop without
// looking at its context, recurse without a bound, or evaluate anything but
// the tree that it showed.
package main

import (
	"os"
	"runtime"
	"runtime/debug"

	"github.com/sluice-gateway/sluice/executor/wire"
)

// gcPercent lets the heap of some 2 MB grow to 16 before it is collected: an
// expression takes less time than a collection.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		// An expression is many small steps of several goroutines: on fewer
		// processors they wake each other from afar less often.
		runtime.GOMAXPROCS(max(1, runtime.NumCPU()/2))
	}
	wire.Serve(calculator{})
}
