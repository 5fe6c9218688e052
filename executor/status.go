package executor

// Status says how a submission ended. The zero value is no status: on the wire
// it is a violation of the contract.
type Status uint8

// The statuses, in the order of the wire's enumeration.
const (
	StatusUnspecified     Status = iota
	StatusOK                     // ran to its end
	StatusCompileError           // does not parse; no verdict was awaited
	StatusTreeTooLarge           // too deep or too large to show to the policy
	StatusDenied                 // the verdict refused it
	StatusRuntimeError           // raised
	StatusWallLimit              // wall-clock limit
	StatusCPULimit               // processor-time limit
	StatusMemoryLimit            // memory limit
	StatusOutputLimit            // wrote past the output ceiling
	StatusCancelled              // the caller went away or asked to stop
	StatusSessionLost            // the session is gone
	StatusInternal               // the plugin's own fault
	StatusOverloaded             // no room for it now
	StatusVerdictMismatch        // the verdict was for another tree
	StatusCrashed                // ended by a signal
	StatusExitNonzero            // ended with an exit code other than 0
)

var statusNames = [...]string{
	"STATUS_UNSPECIFIED", "OK", "COMPILE_ERROR", "TREE_TOO_LARGE", "DENIED", "RUNTIME_ERROR",
	"WALL_LIMIT", "CPU_LIMIT", "MEMORY_LIMIT", "OUTPUT_LIMIT", "CANCELLED", "SESSION_LOST",
	"INTERNAL", "OVERLOADED", "VERDICT_MISMATCH", "CRASHED", "EXIT_NONZERO",
}

// String is the wire's name of the status.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return "STATUS_UNKNOWN"
}

// Statuses lists every status a Result may carry, in the wire's order.
func Statuses() []Status {
	all := make([]Status, 0, len(statusNames)-1)
	for s := StatusOK; int(s) < len(statusNames); s++ {
		all = append(all, s)
	}
	return all
}
