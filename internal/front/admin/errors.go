package admin

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ours is what is said of a fault that is not the caller's.
const ours = "something went wrong here; the log has the cause under this request id"

// refusal is an error's answer.
type refusal struct {
	status int
	detail string
	retry  time.Duration // 0: no Retry-After
}

// Error implements error.
func (r refusal) Error() string { return r.detail }

// unknownCaller is the answer to a request whose caller is not let in, as on the
// public listener.
func unknownCaller(err error) error {
	var two interface{ Ambiguous() bool }
	if errors.As(err, &two) && two.Ambiguous() {
		return refusal{status: http.StatusBadRequest, detail: "two different credentials were sent: send one"}
	}
	var often interface{ RetryAfter() time.Duration }
	if errors.As(err, &often) {
		return refusal{status: http.StatusTooManyRequests, detail: detailOf(err, "the token's rate limit is reached"), retry: often.RetryAfter()}
	}
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

func requestID(w http.ResponseWriter) string { return w.Header().Get("X-Request-Id") }

func (s *server) refuse(w http.ResponseWriter, err error) {
	fault := refusal{status: http.StatusInternalServerError, detail: ours}
	if !errors.As(err, &fault) {
		s.cfg.Log.Error("admin request failed", "request_id", requestID(w), "error", err)
	}
	if fault.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if fault.retry > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64((fault.retry+time.Second-1)/time.Second), 10))
	}
	s.json(w, fault.status, map[string]any{
		"detail": fault.detail, "request_id": requestID(w), "status": fault.status, "title": http.StatusText(fault.status),
	})
}

// formed keeps back the errors of handlers that write them as plain text, so that
// they can be given the form of all others.
type formed struct {
	http.ResponseWriter

	status int // of such an error; 0: none
	text   []byte
}

// mostText bounds what is kept of a handler's own error text, in bytes.
const mostText = 300

// Unwrap lets http.ResponseController reach the connection.
func (f *formed) Unwrap() http.ResponseWriter { return f.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (f *formed) WriteHeader(status int) {
	if f.status == 0 && status >= http.StatusBadRequest && strings.HasPrefix(f.Header().Get("Content-Type"), "text/plain") {
		f.status = status
	}
	if f.status == 0 {
		f.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (f *formed) Write(p []byte) (int, error) {
	if f.status == 0 {
		return f.ResponseWriter.Write(p)
	}
	f.text = append(f.text, p[:min(len(p), mostText-len(f.text))]...)
	return len(p), nil
}

// fault is the error that was kept back. Texts of our own faults are for the log.
func (f *formed) fault() error {
	for _, name := range []string{"Content-Length", "Content-Disposition", "Content-Encoding", "X-Go-Pprof"} {
		f.Header().Del(name)
	}
	text := strings.ToValidUTF8(strings.TrimSpace(string(f.text)), "")
	if f.status >= http.StatusInternalServerError {
		return fmt.Errorf("answer with %d: %s", f.status, text)
	}
	return refusal{status: f.status, detail: text}
}
