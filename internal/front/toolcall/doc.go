// Package toolcall says what a model's tool call asks for and what the model is
// shown of its end, the same on every front: names and aliases, arguments, the
// text of an observation, the full answer, and what each error of the gateway
// means to a caller.
//
// Begin with call.go ([Read]), then observation.go; full.go is the answer of
// POST /v1/run, refusal.go the one table of errors.
//
// The package speaks no protocol and calls no program: it must never import
// net/http's server side, run a submission, or put an error's own text into what
// a caller sees.
package toolcall
