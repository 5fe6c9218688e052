package toolcall

import (
	"errors"
	"net/http"
	"time"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Refusal is what an error of the gateway means to whoever asked.
type Refusal struct {
	Status int           // of HTTP
	Detail string        // may be shown to the caller; empty with 500
	Retry  time.Duration // after which it may go better; 0: it will not by itself
}

// RefusalFor is the one place where an error of the gateway becomes a status.
// What is not named here is our fault: 500. codeBytes is the bound on a program.
func RefusalFor(err error, codeBytes int) Refusal {
	var shape *gateway.InvalidError
	if errors.As(err, &shape) {
		return Refusal{Status: http.StatusUnprocessableEntity, Detail: shape.Error()}
	}
	var tool *unknownTool
	if errors.As(err, &tool) {
		return Refusal{Status: http.StatusNotFound, Detail: tool.detail()}
	}
	for _, row := range table(codeBytes) {
		if errors.Is(err, row.err) {
			return row.after(err)
		}
	}
	return Refusal{Status: http.StatusInternalServerError}
}

type row struct {
	err error
	Refusal
}

// after is the row's refusal; an error that knows better when to ask again is
// believed as far as it asks for patience.
func (r row) after(err error) Refusal {
	var patient interface{ RetryAfter() time.Duration }
	if errors.As(err, &patient) {
		r.Retry = min(max(r.Retry, patient.RetryAfter()), mostRetry)
	}
	return r.Refusal
}

// mostRetry bounds what a caller is asked to wait.
const mostRetry = time.Minute

// table is searched from its first row: an error may wrap two of these,
// and a caller who left decides over whatever that caused.
func table(codeBytes int) []row {
	const busy, down, room = time.Second, 2 * time.Second, 10 * time.Second
	return []row{
		{gateway.ErrGone, Refusal{http.StatusServiceUnavailable, "the request was given up before its answer", busy}},
		{gateway.ErrUnknownTool, Refusal{http.StatusNotFound, "no such tool: GET /v1/tools lists those there are", 0}},
		{gateway.ErrUnknownProfile, Refusal{http.StatusUnprocessableEntity, "profile: there is no such profile; GET /v1/policy lists yours", 0}},
		{gateway.ErrTooLarge, Refusal{http.StatusRequestEntityTooLarge, "code is too large: at most " + gateway.Bytes(uint64(max(0, codeBytes))), 0}},
		{gateway.ErrUnsupported, Refusal{http.StatusUnprocessableEntity, "not supported: this language keeps no sessions", 0}},
		{gateway.ErrSessionUnknown, Refusal{http.StatusNotFound, "no such session: it has ended, has expired, or was never there", 0}},
		{gateway.ErrSessionBusy, Refusal{http.StatusConflict, "the session is running another cell, which did not end in time: wait for longer (wait), or POST …/interrupt", busy}},
		{gateway.ErrSessionLost, Refusal{http.StatusConflict, "the session has lost what it held; a reset or a cell starts it afresh", 0}},
		{gateway.ErrSessionLimit, Refusal{http.StatusTooManyRequests, "the token has as many sessions as it may have (sessions.max_per_token): delete one, or let one expire", room}},
		{gateway.ErrCallerBusy, Refusal{http.StatusTooManyRequests, "the token has as many submissions at once as it may have", busy}},
		{gateway.ErrSessionsFull, Refusal{http.StatusServiceUnavailable, "no room for another session", room}},
		{gateway.ErrSessionMemory, Refusal{http.StatusServiceUnavailable, "no room for another session: the open ones take as much memory as all may", room}},
		{gateway.ErrPluginFault, Refusal{http.StatusInternalServerError, "", 0}},
		{gateway.ErrQueueFull, Refusal{http.StatusServiceUnavailable, "busy: as many requests wait as may", busy}},
		{gateway.ErrOverload, Refusal{http.StatusServiceUnavailable, "busy: more is asked than can be served, and the wait would be long", busy}},
		{gateway.ErrBusy, Refusal{http.StatusServiceUnavailable, "busy: no free slot in time", busy}},
		{gateway.ErrNoRules, Refusal{http.StatusServiceUnavailable, "no policy is in force for this language", 5 * time.Second}},
		{gateway.ErrNoPolicy, Refusal{http.StatusServiceUnavailable, "no policy is in force", 5 * time.Second}},
		{gateway.ErrPolicyFault, Refusal{http.StatusServiceUnavailable, "the policy gave no verdict; nothing was run", down}},
		{gateway.ErrPluginDown, Refusal{http.StatusServiceUnavailable, "the executor is not running; try again later", down}},
		{gateway.ErrPluginBusy, Refusal{http.StatusServiceUnavailable, "busy: the executor has no room", busy}},
		{gateway.ErrPluginDied, Refusal{http.StatusServiceUnavailable, "the executor died while this program was with it; the request may be repeated", busy}},
	}
}
