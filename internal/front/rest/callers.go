package rest

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// unknownCaller is the answer to a request whose caller is not let in.
func (x *exchange) unknownCaller(err error) error {
	var twice interface{ Ambiguous() bool }
	if errors.As(err, &twice) && twice.Ambiguous() {
		return refusal{status: http.StatusBadRequest, detail: "two different credentials were sent: send one"}
	}
	var hostile interface{ Hostile() bool }
	x.hostile = errors.As(err, &hostile) && hostile.Hostile()
	var used interface{ Quota() *gateway.Quota }
	if errors.As(err, &used) {
		x.tellQuota(used.Quota())
	}
	var often interface{ RetryAfter() time.Duration }
	if errors.As(err, &often) {
		return refusal{status: http.StatusTooManyRequests, detail: detailOf(err, "the token's rate limit is reached"), retry: often.RetryAfter()}
	}
	x.Header().Set("WWW-Authenticate", "Bearer")
	return refusal{status: http.StatusUnauthorized, detail: detailOf(err, "a valid token is needed: Authorization: Bearer TOKEN")}
}

// detailOf is what an error has to say to callers, or else otherwise.
func detailOf(err error, otherwise string) string {
	var told interface{ Detail() string }
	if errors.As(err, &told) {
		return told.Detail()
	}
	return otherwise
}

// tellQuota tells a caller its rate, in the fields of the IETF's draft
// (draft-ietf-httpapi-ratelimit-headers-10).
func (x *exchange) tellQuota(q *gateway.Quota) {
	if q == nil {
		return
	}
	x.Header().Set("RateLimit-Policy", fmt.Sprintf(`"token";q=%d;w=%d`, q.Requests, int64(q.Window/time.Second)))
	x.Header().Set("RateLimit", fmt.Sprintf(`"token";r=%d;t=%d`, q.Remaining, int64(q.Reset/time.Second)))
}
