// Package executortest proves that an executor keeps the contract.
//
// Begin with [Run]: an author's test hands it the executor, and it runs the
// checks of the contract against it behind real gRPC, with the samples that the
// executor's Description carries. [Start] is the harness alone, for tests of
// one's own.
//
// The package must never know a particular language or plugin, and never weigh
// a failed check.
package executortest
