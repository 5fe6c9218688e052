package rest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-gateway/sluice/internal/front/toolcall"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// exchange is one request and its answer: the rules that hold on every route.
// It is the ResponseWriter that handlers see.
type exchange struct {
	http.ResponseWriter

	s        *server
	r        *http.Request
	id       string
	trace    string // W3C traceparent of our span; empty: none
	route    string
	caller   gateway.Caller
	begun    time.Time
	status   int                                            // 0: nothing was answered yet
	logged   int                                            // as status, but for a caller who went away
	consumed bool                                           // the body was read to its end
	hostile  bool                                           // of many wrong tokens from one address, which the log tells once
	problem  func(status int, detail, requestID string) any // the route's
}

// Unwrap lets http.ResponseController reach the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (x *exchange) WriteHeader(status int) {
	if x.status != 0 {
		return
	}
	x.status = status
	if !x.consumed && x.r.Body != http.NoBody {
		x.abandonBody()
	}
	x.ResponseWriter.WriteHeader(status)
}

// abandonBody keeps net/http from reading a body that we did not: it would
// take up to 256 KiB of it, to use the connection again. Instead the answer is
// sent, then the connection is closed.
func (x *exchange) abandonBody() {
	// A limit that is passed is net/http's signal to close politely: the
	// caller can still read the answer while its body is in flight.
	_, _ = http.MaxBytesReader(x.ResponseWriter, io.NopCloser(strings.NewReader("x")), 0).Read(make([]byte, 1))
	x.Header().Set("Connection", "close")
	_ = http.NewResponseController(x.ResponseWriter).SetReadDeadline(time.Unix(1, 0))
}

func (s *server) begin(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{ResponseWriter: w, s: s, r: r, begun: time.Now()}
	x.id = r.Header.Get("X-Request-Id")
	if !validID(x.id) {
		x.id = s.cfg.NewID()
	}
	x.Header().Set("X-Request-Id", x.id)
	if x.trace = toolcall.ChildTrace(r.Header.Values("Traceparent")); x.trace != "" {
		x.Header().Set("Traceparent", x.trace)
	}
	return x
}

// end is deferred around a whole exchange: it turns a panic into a 500 and
// writes the log's line.
func (x *exchange) end() {
	fault := recover()
	if fault == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
		panic(fault)
	}
	if fault != nil {
		x.s.cfg.Log.Error("handler panicked", "request_id", x.id, "panic", fault, "stack", string(debug.Stack()))
		x.refuse(refusal{status: http.StatusInternalServerError})
	}
	level := slog.LevelInfo
	if x.hostile || x.route == "/healthz" || x.route == "/readyz" {
		level = slog.LevelDebug
	}
	status := x.status
	if x.logged != 0 {
		status = x.logged
	}
	took := time.Since(x.begun)
	if x.s.cfg.Observe != nil {
		x.s.cfg.Observe(method(x.r), strings.TrimSuffix(x.route, "{$}"), status, took)
	}
	x.s.cfg.Log.Log(context.WithoutCancel(x.r.Context()), level, "request", "request_id", x.id, "method", method(x.r), "route", x.route,
		"status", status, "caller", x.caller.Name, "ms", took.Milliseconds())
}

// method is a request's method for the log; what is none of HTTP's is the
// caller's own text.
func method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return r.Method
	}
	return "other"
}

// admit finds out who asks and whether they may, before the body.
func (x *exchange) admit(rt route) error {
	if rt.open {
		return nil
	}
	caller, err := x.s.cfg.Auth.Authenticate(x.r)
	if err != nil && rt.secret {
		return notFound(x)
	}
	if err != nil {
		return x.unknownCaller(err)
	}
	x.caller = caller
	x.tellQuota(caller.Quota)
	for _, scope := range rt.scopes {
		if caller.May(scope) {
			return nil
		}
	}
	if len(rt.scopes) == 0 {
		return nil
	}
	x.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+rt.scopes[0]+`"`)
	return refusal{status: http.StatusForbidden, detail: "the token does not have the scope " + rt.scopes[0]}
}

// problem is the body of every error.
type problem struct {
	Detail    string `json:"detail"`
	RequestID string `json:"request_id"`
	Status    int    `json:"status"`
	Title     string `json:"title"`
}

// refuse answers with an error. What is our fault is logged whole; the caller
// sees the status text.
func (x *exchange) refuse(err error) {
	if x.status != 0 {
		return
	}
	if errors.Is(err, gateway.ErrGone) && x.r.Context().Err() != nil {
		x.logged = statusGone
	}
	fault := x.faultOf(err)
	if !x.hostile { // who is, has waited already
		x.s.pace.hold(x.r.Context(), fault)
	}
	if fault.retry > 0 {
		seconds := int64((fault.retry + time.Second - 1) / time.Second)
		x.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	if x.problem != nil {
		x.json(fault.status, x.problem(fault.status, fault.detail, x.id))
		return
	}
	x.json(fault.status, x.bodyOf(fault))
}

// faultOf is an error's answer; what is our fault is logged.
func (x *exchange) faultOf(err error) refusal {
	fault := refusalFor(err, x.s.cfg.Limits)
	if fault.status != http.StatusInternalServerError {
		return fault
	}
	var ours refusal
	if !errors.As(err, &ours) {
		x.s.cfg.Log.Error("request failed", "request_id", x.id, "route", x.route, "error", err)
	}
	fault.detail = "something went wrong here; the log has the cause under this request id"
	return fault
}

func (x *exchange) bodyOf(fault refusal) problem {
	return problem{Detail: fault.detail, RequestID: x.id, Status: fault.status, Title: http.StatusText(fault.status)}
}

func (x *exchange) problemOf(err error) problem { return x.bodyOf(x.faultOf(err)) }

// json answers with v. What is not valid UTF-8 in it is replaced.
func (x *exchange) json(status int, v any) {
	raw, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		x.s.cfg.Log.Error("encode an answer", "request_id", x.id, "route", x.route, "error", err)
		status, raw = http.StatusInternalServerError, []byte(`{"detail":"the answer cannot be encoded","request_id":"`+x.id+
			`","status":500,"title":"Internal Server Error"}`)
	}
	x.send(status, "application/json", append(raw, '\n'))
}

func (x *exchange) send(status int, mediaType string, body []byte) {
	h := x.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	x.WriteHeader(status)
	_, _ = x.Write(body) // an error here is a caller who went away
}

// request is the gateway's request, as far as it is the same for every route.
func (x *exchange) request(route gateway.Route, tool, code string) gateway.Request {
	req := x.by()
	req.Route, req.Tool, req.Code = route, tool, []byte(code)
	return req
}

// by is a request that says who asks, and nothing of what for.
func (x *exchange) by() gateway.Request {
	return gateway.Request{ID: x.id, Traceparent: x.trace, Caller: x.caller}
}

// answerTime bounds the sending of an answer after its run.
const answerTime = time.Minute

// solve runs a request. A run whose caller left has no answer: ErrGone. The
// server's own limit on the answer's time does not count the run: that has the
// gateway's limits.
func (x *exchange) solve(req gateway.Request) (gateway.Answer, error) {
	control := http.NewResponseController(x.ResponseWriter)
	_ = control.SetWriteDeadline(time.Time{}) // a writer without a connection has none
	ans, err := x.s.cfg.Gateway.Solve(x.r.Context(), req)
	_ = control.SetWriteDeadline(time.Now().Add(answerTime))
	if err == nil && x.unanswered(req, ans) {
		err = gateway.ErrGone
	}
	return ans, err
}

// unanswered says whether a run was cancelled for another reason than that its
// caller interrupted the cell.
func (x *exchange) unanswered(req gateway.Request, ans gateway.Answer) bool {
	return ans.Status == gateway.Cancelled && (req.Cell == nil || x.r.Context().Err() != nil)
}
