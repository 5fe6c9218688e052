// Command python-exec runs Python programs written by models. It is an executor
// plugin: the gateway starts it and speaks to it over package wire.
//
// Begin with plugin.go (Parse) and program.go (Run); pool.go keeps children
// ready, poolsize.go says how many, readers.go parses what is never run, zygote.go
// speaks with the interpreter that they are forked from, and runtime/ holds the
// Python half, embedded: zygote.py makes the interpreter ready, forks.py is its loop,
// child.py the life of a child. What a child sends is hostile: it is
// read by frames.go and end.go alone, within bounds. extract.go is a sub-command
// of its own: it reads a file's sets of names for vendor-sync.
//
// The command never reads a submission itself, never runs one before Run was
// called, and hands no environment on.
package main

import (
	"os"
	"runtime"
	"runtime/debug"

	"github.com/sluice-gateway/sluice/executor/wire"
	"github.com/sluice-gateway/sluice/internal/sandbox"
)

func main() {
	if code, isShim := sandbox.Shim(os.Args); isShim {
		os.Exit(code)
	}
	if args := os.Args[1:]; isExtract(args) {
		os.Exit(extract(args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	tune(os.Getenv)
	wire.Serve(newPlugin())
}

// gcPercent lets the heap of some 4 MB grow to five times that before it is
// collected: each submission makes garbage of 0.2 MB.
const gcPercent = 400

// tune leaves the processors to the interpreters. What this process does for a
// submission is a seventh of what they do, in many small steps: on more
// processors the steps wake each other from afar. The operator's own choice of
// GOGC or GOMAXPROCS stands.
func tune(getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(1, runtime.NumCPU()/4))
	}
}
