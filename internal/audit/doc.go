// Package audit writes down what was decided: one JSON object a line for each
// submission.
//
// Begin with [Open] and [Journal.Record]; [Event] is the shape of a line, [Read] reads them back.
//
// The package must never hold up a submission because the disk is slow, and
// never write a token, nor a program's text or a policy message (which quotes
// it) unless the operator asked for the source.
package audit
