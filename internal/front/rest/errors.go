package rest

import (
	"errors"
	"time"

	"github.com/sluice-gateway/sluice/internal/front/toolcall"
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

// refusalFor says what an error is to the caller. What is neither an answer of
// this front nor in the table of all fronts is our fault: 500.
func refusalFor(err error, limits Limits) refusal {
	var own refusal
	if errors.As(err, &own) {
		return own
	}
	r := toolcall.RefusalFor(err, limits.CodeBytes)
	return refusal{status: r.Status, detail: r.Detail, retry: r.Retry}
}
