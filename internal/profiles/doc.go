// Package profiles reads profiles.yaml: how strict the rules are, for whom.
//
// Begin at [Read]. It knows the file's form and what a profile inherits; whether
// the rules and lists that it names exist, the rooms that have the rules find
// out.
//
// It must never guess: an unknown or duplicate key, a profile that extends none
// or itself, is an error with its line.
package profiles
