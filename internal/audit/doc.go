// Package audit writes down what was decided: one JSON object a line for each
// submission.
//
// Begin with [Open] and [Journal.Record]; line.go is the shape of a line.
//
// The package must never hold up a submission because the disk is slow, and
// never write a token, nor a program's text or a policy message (which quotes
// it) unless the operator asked for the source.
package audit
