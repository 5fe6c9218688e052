// Package mcp speaks the Model Context Protocol: it turns tools/call into a
// [gateway.Request] and an answer into content that a model and a program can
// read.
//
// Begin with front.go ([New]) and call.go. Two eras of the protocol are served at
// one address: since 2026-07-28 each request stands alone, before that a client
// opens a session first; era.go tells them apart. The text of a result is exactly
// the output that POST /v1/tools/call gives, its structured content the answer
// of POST /v1/run with a few keys more.
//
// The package must never read a request whose caller is not known yet (whoever
// mounts it authenticates), answer with an error's own text, or make a protocol
// error of what a model can act on: a refusal, a limit and a full queue are results.
package mcp
