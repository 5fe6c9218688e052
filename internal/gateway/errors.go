package gateway

import (
	"errors"
	"fmt"
)

// Errors that fronts tell apart. Each is the caller's fault or our load; what
// is none of them is our fault: the front logs it whole and shows the status
// text alone.
var (
	ErrUnknownTool    = errors.New("no such tool")
	ErrUnknownProfile = errors.New("no such profile")
	ErrTooLarge       = errors.New("code is too large")
	ErrBusy           = errors.New("no free slot in time")
	ErrQueueFull      = fmt.Errorf("%w: the queue is full", ErrBusy)
	ErrCallerBusy     = errors.New("caller has as many submissions at once as it may")
	ErrOverload       = fmt.Errorf("%w: more is asked than can be served", ErrBusy)
	ErrNoPolicy       = errors.New("no policy in force")
	ErrNoRules        = fmt.Errorf("%w for it", ErrNoPolicy) // for the program's language
	ErrPolicyFault    = errors.New("policy unavailable")
	ErrPluginDown     = errors.New("plugin is not running")
	ErrPluginBusy     = errors.New("plugin has no room")
	ErrPluginDied     = errors.New("plugin died while the program was with it")
	ErrPluginFault    = errors.New("plugin broke its contract")
	ErrGone           = errors.New("caller went away")
	ErrUnsupported    = errors.New("not supported")
	ErrSessionUnknown = errors.New("no such session")
	ErrSessionBusy    = errors.New("session is running another cell")
	ErrSessionLimit   = errors.New("caller has as many sessions as it may")
	ErrSessionsFull   = errors.New("no room for another session")
	ErrSessionMemory  = errors.New("sessions take as much memory as they may")
	ErrSessionLost    = errors.New("session has lost what it held")
)

// InvalidError is a request of the wrong shape; Field names where.
type InvalidError struct{ Field, Reason string }

// Error implements error. The text may be shown to the caller.
func (e *InvalidError) Error() string { return fmt.Sprintf("%s: %s", e.Field, e.Reason) }

// FaultClass names the kind of an error for the journal, without its text.
func FaultClass(err error) string {
	var invalid *InvalidError
	if errors.As(err, &invalid) {
		return "invalid"
	}
	for _, c := range faultClasses() {
		if errors.Is(err, c.err) {
			return c.name
		}
	}
	return "internal"
}

type faultClass struct {
	err  error
	name string
}

func faultClasses() []faultClass {
	return []faultClass{
		{ErrUnknownTool, "unknown_tool"},
		{ErrUnknownProfile, "unknown_profile"},
		{ErrTooLarge, "too_large"},
		{ErrBusy, "busy"},
		{ErrCallerBusy, "caller_busy"},
		{ErrNoPolicy, "no_policy"},
		{ErrPolicyFault, "policy_fault"},
		{ErrPluginDown, "plugin_down"},
		{ErrPluginBusy, "plugin_busy"},
		{ErrPluginDied, "plugin_died"},
		{ErrPluginFault, "plugin_fault"},
		{ErrGone, "gone"},
		{ErrUnsupported, "unsupported"},
		{ErrSessionUnknown, "session_unknown"},
		{ErrSessionBusy, "session_busy"},
		{ErrSessionLimit, "session_limit"},
		{ErrSessionsFull, "sessions_full"},
		{ErrSessionMemory, "session_memory"},
		{ErrSessionLost, "session_lost"},
	}
}
