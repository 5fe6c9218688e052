package executor

import (
	"errors"
	"fmt"
)

// Errors that Parse and Run return, and that context.Cause gives inside them.
// Each sets the submission's status; none is a fault of the plugin.
var (
	ErrWall         = errors.New("wall-clock limit reached")
	ErrCPU          = errors.New("processor-time limit reached")
	ErrMemory       = errors.New("memory limit reached")
	ErrOutput       = errors.New("output ceiling reached")
	ErrCancelled    = errors.New("run was cancelled")
	ErrTreeTooLarge = errors.New("syntax tree is too large")
	ErrOverloaded   = errors.New("no room for this submission")
	ErrSessionLost  = errors.New("session is lost")
)

// CompileError says why a text does not parse.
type CompileError struct{ Problem }

// Error implements error.
func (e *CompileError) Error() string {
	return fmt.Sprintf("%s at line %d: %s", e.Type, e.Line, e.Message)
}

// RuntimeError says what a program raised.
type RuntimeError struct{ Problem }

// Error implements error.
func (e *RuntimeError) Error() string { return e.Type + ": " + e.Message }

// StatusOf maps an error of Parse or Run to the submission's status; anything
// that is not of this package is StatusInternal.
func StatusOf(err error) Status {
	var compile *CompileError
	var runtime *RuntimeError
	switch {
	case err == nil:
		return StatusOK
	case errors.As(err, &compile):
		return StatusCompileError
	case errors.As(err, &runtime):
		return StatusRuntimeError
	}
	for sentinel, status := range sentinelStatus() {
		if errors.Is(err, sentinel) {
			return status
		}
	}
	return StatusInternal
}

func sentinelStatus() map[error]Status {
	return map[error]Status{
		ErrWall: StatusWallLimit, ErrCPU: StatusCPULimit, ErrMemory: StatusMemoryLimit,
		ErrOutput: StatusOutputLimit, ErrCancelled: StatusCancelled,
		ErrTreeTooLarge: StatusTreeTooLarge, ErrOverloaded: StatusOverloaded,
		ErrSessionLost: StatusSessionLost,
	}
}
