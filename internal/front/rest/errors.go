package rest

import (
	"errors"
	"net/http"
	"time"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// statusGone stands in the log for a request whose caller did not wait for the
// answer.
const statusGone = 499

// refusal is an error with its answer. detail is shown to the caller.
type refusal struct {
	status int
	detail string
	retry  time.Duration // 0: no Retry-After
}

// Error implements error.
func (r refusal) Error() string { return r.detail }

func invalid(field, reason string) error { return &gateway.InvalidError{Field: field, Reason: reason} }

// refusalFor is the one place where an error becomes a status. What is not
// named here is our fault: 500.
func refusalFor(err error, limits Limits) refusal {
	var own refusal
	if errors.As(err, &own) {
		return own
	}
	var shape *gateway.InvalidError
	if errors.As(err, &shape) {
		return refusal{status: http.StatusUnprocessableEntity, detail: shape.Error()}
	}
	for _, row := range statusTable(limits) {
		if errors.Is(err, row.err) {
			return row.after(err)
		}
	}
	return refusal{status: http.StatusInternalServerError}
}

type statusRow struct {
	err error
	refusal
}

// after is the row's refusal; an error that knows better when to ask again is
// believed as far as it asks for patience.
func (row statusRow) after(err error) refusal {
	var patient interface{ RetryAfter() time.Duration }
	if errors.As(err, &patient) {
		row.retry = min(max(row.retry, patient.RetryAfter()), mostRetry)
	}
	return row.refusal
}

// mostRetry bounds what a caller is asked to wait.
const mostRetry = time.Minute

// statusTable is searched from its first row: an error may wrap two of these,
// and a caller who left decides over whatever that caused.
func statusTable(limits Limits) []statusRow {
	const busy, down, room = time.Second, 2 * time.Second, 10 * time.Second
	return []statusRow{
		{gateway.ErrGone, refusal{http.StatusServiceUnavailable, "the request was given up before its answer", busy}},
		{gateway.ErrUnknownTool, refusal{http.StatusNotFound, "no such tool", 0}},
		{gateway.ErrUnknownProfile, refusal{http.StatusUnprocessableEntity, "profile: there is no such profile", 0}},
		{gateway.ErrTooLarge, tooLarge("code", int64(limits.CodeBytes))},
		{gateway.ErrUnsupported, refusal{http.StatusUnprocessableEntity, "not supported: this executor does not keep sessions", 0}},
		{gateway.ErrSessionUnknown, refusal{http.StatusNotFound, "no such session: it has ended, has expired, or was never there", 0}},
		{gateway.ErrSessionBusy, refusal{http.StatusConflict, "the session is running another cell, which did not end in time", busy}},
		{gateway.ErrSessionLost, refusal{http.StatusConflict, "the session has lost what it held; a reset or a cell starts it afresh", 0}},
		{gateway.ErrSessionLimit, refusal{http.StatusTooManyRequests, "the token has as many sessions as it may have: delete one, or let one expire", room}},
		{gateway.ErrSessionsFull, refusal{http.StatusServiceUnavailable, "no room for another session", room}},
		{gateway.ErrSessionMemory, refusal{http.StatusServiceUnavailable, "no room for another session: the open ones take as much memory as all may", room}},
		{gateway.ErrPluginFault, refusal{http.StatusInternalServerError, "", 0}},
		{gateway.ErrQueueFull, refusal{http.StatusServiceUnavailable, "busy: as many requests wait as may", busy}},
		{gateway.ErrOverload, refusal{http.StatusServiceUnavailable, "busy: more is asked than can be served, and the wait would be long", busy}},
		{gateway.ErrBusy, refusal{http.StatusServiceUnavailable, "busy: no free slot in time", busy}},
		{gateway.ErrNoPolicy, refusal{http.StatusServiceUnavailable, "no policy is in force", 5 * time.Second}},
		{gateway.ErrPolicyFault, refusal{http.StatusServiceUnavailable, "the policy gave no verdict; nothing was run", down}},
		{gateway.ErrPluginDown, refusal{http.StatusServiceUnavailable, "the executor is not running; it is being started", down}},
		{gateway.ErrPluginBusy, refusal{http.StatusServiceUnavailable, "busy: the executor has no room", busy}},
		{gateway.ErrPluginDied, refusal{http.StatusServiceUnavailable, "the executor died while this program was with it; the request may be repeated", busy}},
	}
}
