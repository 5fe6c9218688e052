// Package executor is the contract between the gateway and the author of an
// executor plugin: what a submission is, what a plugin must answer, and in
// which order.
//
// Begin with [Executor]: an author writes Describe and Parse, and the
// [Program] that Parse returns writes Run. Everything else (the stream, the
// digests, the order of parse, verdict and run, the caps on output, cancelling,
// draining) is supplied by the package wire, whose Serve is the whole of a
// plugin's main.
//
// The package imports the standard library only and never the gateway, so that
// a plugin in another module builds against it and wire alone.
package executor
