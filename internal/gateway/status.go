package gateway

import "github.com/sluice-gateway/sluice/executor"

// Status is the word on the wire for how a submission ended.
type Status string

// The words, as http-api.md lists them.
const (
	Completed   Status = "completed"
	Rejected    Status = "rejected"
	SyntaxError Status = "syntax_error"
	Failed      Status = "error"
	TimedOut    Status = "timeout"
	OutOfMemory Status = "memory"
	OutputLimit Status = "output_limit"
	Crashed     Status = "crash"
	Cancelled   Status = "cancelled"
)

// wireStatus maps the contract's statuses to answers. The three that are no
// answer are errors: see resultError.
func wireStatus() map[executor.Status]Status {
	return map[executor.Status]Status{
		executor.StatusOK:           Completed,
		executor.StatusCompileError: SyntaxError,
		executor.StatusTreeTooLarge: SyntaxError,
		executor.StatusDenied:       Rejected,
		executor.StatusRuntimeError: Failed,
		executor.StatusExitNonzero:  Failed,
		executor.StatusWallLimit:    TimedOut,
		executor.StatusCPULimit:     TimedOut,
		executor.StatusMemoryLimit:  OutOfMemory,
		executor.StatusOutputLimit:  OutputLimit,
		executor.StatusCrashed:      Crashed,
		executor.StatusCancelled:    Cancelled,
		executor.StatusSessionLost:  Failed,
	}
}

// answerStatus says which answer, or which error, a contract status is.
func answerStatus(s executor.Status) (Status, error) {
	if word, ok := wireStatus()[s]; ok {
		return word, nil
	}
	if s == executor.StatusOverloaded {
		return "", ErrPluginBusy
	}
	return "", ErrPluginFault
}
