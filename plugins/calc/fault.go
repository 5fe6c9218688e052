package main

import (
	"fmt"

	"github.com/sluice-gateway/sluice/executor"
)

// The exception types that an evaluation raises, by their Python names.
const (
	typeError     = "TypeError"
	valueError    = "ValueError"
	overflowError = "OverflowError"
	zeroDivision  = "ZeroDivisionError"
	nameError     = "NameError"
)

// raise makes the error of a program that went wrong, in Python's words. The
// evaluator adds the place.
func raise(kind, format string, args ...any) error {
	return &executor.RuntimeError{Problem: executor.Problem{Type: kind, Message: fmt.Sprintf(format, args...)}}
}

// syntaxError makes the error of a text that does not parse.
func syntaxError(at span, format string, args ...any) error {
	return &executor.CompileError{Problem: executor.Problem{
		Type: "SyntaxError", Message: fmt.Sprintf(format, args...),
		Line: uint32(at.line), Column: uint32(at.col + 1),
	}}
}
