package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

type call struct {
	method, path, body string
	token              string // empty: none
	header             map[string]string
}

func (l *lab) do(c call) *httptest.ResponseRecorder {
	l.t.Helper()
	if c.method == "" {
		c.method = http.MethodPost
	}
	r := httptest.NewRequest(c.method, c.path, body(c.body))
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	for k, v := range c.header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	l.handler.ServeHTTP(w, r)
	l.rules(c, w)
	return w
}

// rules checks what holds for every answer.
func (l *lab) rules(c call, w *httptest.ResponseRecorder) {
	l.t.Helper()
	h := w.Result().Header
	id := h.Get("X-Request-Id")
	if id == "" {
		l.t.Errorf("%s %s: no X-Request-Id", c.method, c.path)
	}
	for name := range h {
		if strings.HasPrefix(name, "Access-Control-") {
			l.t.Errorf("%s %s: header %s", c.method, c.path, name)
		}
	}
	if w.Code < 400 || c.path == "/readyz" {
		return
	}
	var p map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		l.t.Fatalf("%s %s: error body %q: %v", c.method, c.path, w.Body, err)
	}
	if len(p) != 4 || p["request_id"] != id || p["status"] != float64(w.Code) || p["title"] != http.StatusText(w.Code) || p["detail"] == "" {
		l.t.Errorf("%s %s: error body %v", c.method, c.path, p)
	}
	if got := h.Get("Content-Type"); got != "application/json" {
		l.t.Errorf("%s %s: Content-Type %q", c.method, c.path, got)
	}
}

func detail(w *httptest.ResponseRecorder) string {
	var p struct{ Detail string }
	_ = json.Unmarshal(w.Body.Bytes(), &p)
	return p.Detail
}

func TestStatuses(t *testing.T) {
	const hello = `{"code":"hello"}`
	solve := func(body string) call { return call{path: "/solve", token: token, body: body} }
	run := func(body string) call { return call{path: "/v1/run", token: token, body: body} }
	tool := func(body string) call { return call{path: "/v1/tools/call", token: token, body: body} }
	with := func(c call, header, value string) call {
		c.header = map[string]string{header: value}
		return c
	}
	open := func(method, path string) call { return call{method: method, path: path} }
	rows := []struct {
		name   string
		call   call
		status int
		detail string // a part of it
		header string // one that must be there, "Name: value"
	}{
		{"judged", solve(hello), 200, "", "Content-Type: application/json"},
		{"body as text", with(solve(hello), "Content-Type", "text/plain"), 200, "", ""},
		{"unknown keys are ignored", solve(`{"code":"hello","more":[{}],"CODE":"bye"}`), 200, "", ""},
		{"identity coding", with(solve(hello), "Content-Encoding", "identity"), 200, "", ""},
		{"timeout above the ceiling", solve(`{"code":"hello","timeout":1e300}`), 200, "", ""},
		{"timeout of null", solve(`{"code":"hello","timeout":null}`), 200, "", ""},

		{"empty body", solve(""), 400, "not JSON", ""},
		{"cut off", solve(`{"code":"print(1)"`), 400, "not JSON", ""},
		{"two documents", solve(`{"code":"a"} {"code":"b"}`), 400, "not JSON", ""},
		{"not an object", solve(`["print(1)"]`), 400, "object", ""},
		{"a string", solve(`"print(1)"`), 400, "object", ""},
		{"null", solve(`null`), 400, "object", ""},
		{"duplicate key", solve(`{"code":"a","code":"b"}`), 400, "twice", ""},
		{"duplicate key inside", solve(`{"code":"a","x":{"y":1,"y":2}}`), 400, "twice", ""},
		{"duplicate key by escape", solve(`{"code":"a","cod\u0065":"b"}`), 400, "twice", ""},
		{"bad UTF-8", solve("{\"code\":\"\xff\"}"), 400, "UTF-8", ""},
		{"lone surrogate", solve(`{"code":"a\ud83d"}`), 400, "", ""},
		{"byte order mark", solve("\ufeff" + hello), 400, "not JSON", ""},
		{"wrong shape before bad syntax", solve(`{"code":1,`), 400, "not JSON", ""},
		{"nested too deeply", solve(`{"code":"a","x":` + strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001) + "}"), 400, "nested too deeply", ""},
		{"NaN", solve(`{"code":"a","timeout":NaN}`), 400, "not JSON", ""},
		{"two credentials", with(solve(hello), "X-Api-Key", wrongToken), 400, "two different", ""},

		{"no token", call{path: "/solve", body: hello}, 401, "token", "Www-Authenticate: Bearer"},
		{"wrong token", call{path: "/solve", body: hello, token: wrongToken}, 401, "token", "Www-Authenticate: Bearer"},
		{"token in the query", call{path: "/solve?token=" + token + "&access_token=" + token, body: hello}, 401, "token", ""},
		{"no token, bad body", call{path: "/solve", body: "{"}, 401, "token", ""},
		{"no scope run", call{path: "/v1/run", body: hello, token: solveOnly}, 403, "scope run", ""},
		{"no scope tools", call{method: "GET", path: "/v1/tools", token: solveOnly}, 403, "scope tools", ""},
		{"no scope for a call", call{path: "/v1/tools/call", body: "{}", token: solveOnly}, 403, "scope tools", ""},
		{"solve is enough to check", call{path: "/v1/check", body: hello, token: solveOnly}, 200, "", ""},

		{"unknown route", call{path: "/nosuch", token: token, body: hello}, 404, "no such route", ""},
		{"unknown route, no token", open("GET", "/v2"), 404, "no such route", ""},
		{"docs", open("GET", "/docs"), 404, "", ""},
		{"openapi without a token", open("GET", "/openapi.json"), 404, "no such route", ""},
		{"openapi with a wrong token", call{method: "GET", path: "/openapi.json", token: wrongToken}, 404, "no such route", ""},
		{"openapi, wrong method, no token", open("POST", "/openapi.json"), 404, "no such route", ""},
		{"double slash", open("GET", "//healthz"), 404, "", ""},
		{"dots", open("GET", "/x/../healthz"), 404, "", ""},
		{"trailing slash", open("GET", "/healthz/"), 404, "", ""},
		{"unknown tool", run(`{"tool":"cobol","code":"x"}`), 404, "tool", ""},
		{"unknown tool called", tool(`{"name":"nosuch","arguments":{"code":"1"}}`), 404, "tool", ""},
		{"session of a run", run(`{"code":"x","session_id":"s_1"}`), 404, "session", ""},
		{"session created", call{path: "/v1/sessions", token: token}, 422, "not supported", ""},
		{"session asked", call{method: "GET", path: "/v1/sessions/s_1", token: token}, 404, "session", ""},
		{"session without a token", call{method: "DELETE", path: "/v1/sessions/s_1"}, 401, "", ""},

		{"wrong method", open("GET", "/solve"), 405, "POST", "Allow: POST"},
		{"wrong method of a reader", open("POST", "/healthz"), 405, "GET", "Allow: GET, HEAD"},
		{"wrong method of the root", open("DELETE", "/"), 405, "GET", "Allow: GET, HEAD"},
		{"options", open("OPTIONS", "/solve"), 405, "POST", "Allow: POST"},

		{"body too large", solve(`{"code":"` + strings.Repeat("a", 256<<10) + `"}`), 413, "body is too large: at most 256 KiB", ""},
		{"code too large", solve(`{"code":"` + strings.Repeat("a", 64<<10+1) + `"}`), 413, "code is too large: at most 64 KiB", ""},
		{"gzip", with(solve(hello), "Content-Encoding", "gzip"), 415, "Content-Encoding", ""},

		{"no code", solve(`{}`), 422, "code", ""},
		{"code of another case", solve(`{"CODE":"x"}`), 422, "code", ""},
		{"null code", solve(`{"code":null}`), 422, "code", ""},
		{"code no string", solve(`{"code":7}`), 422, "code: must be a string", ""},
		{"timeout no number", solve(`{"code":"x","timeout":"1"}`), 422, "timeout: must be a number", ""},
		{"timeout a boolean", solve(`{"code":"x","timeout":true}`), 422, "timeout", ""},
		{"timeout zero", solve(`{"code":"x","timeout":0}`), 422, "timeout: must be a positive number", ""},
		{"timeout negative", solve(`{"code":"x","timeout":-1}`), 422, "timeout", ""},
		{"limits no object", run(`{"code":"x","limits":[]}`), 422, "limits: must be an object", ""},
		{"memory negative", run(`{"code":"x","limits":{"memory_bytes":-1}}`), 422, "limits.memory_bytes", ""},
		{"memory zero", run(`{"code":"x","limits":{"memory_bytes":0}}`), 422, "limits.memory_bytes", ""},
		{"memory absurdly small", run(`{"code":"x","limits":{"memory_bytes":1000}}`), 422, "limits.memory_bytes: must be from 16777216", ""},
		{"memory absurdly large", run(`{"code":"x","limits":{"memory_bytes":1099511627777}}`), 422, "limits.memory_bytes: must be from 16777216", ""},
		{"unknown limit", run(`{"code":"x","limits":{"wall_second":1}}`), 422, "limits.wall_second: there is no such limit", ""},
		{"wall zero", run(`{"code":"x","limits":{"wall_seconds":0}}`), 422, "limits.wall_seconds", ""},
		{"cpu no number", run(`{"code":"x","limits":{"cpu_seconds":"a"}}`), 422, "limits.cpu_seconds", ""},
		{"wait negative", run(`{"code":"x","wait":-1}`), 422, "wait", ""},
		{"stdin no string", run(`{"code":"x","stdin":1}`), 422, "stdin", ""},
		{"event stream of no code", with(run(`{}`), "Accept", "text/event-stream"), 422, "code", ""},
		{"unknown profile", call{path: "/v1/check", token: token, body: `{"code":"x","profile":"nosuch"}`}, 422, "profile", ""},
		{"empty profile", call{path: "/v1/check", token: token, body: `{"code":"x","profile":""}`}, 422, "profile", ""},
		{"check without code", call{path: "/v1/check", token: token, body: `{}`}, 422, "code", ""},
		{"format", call{method: "GET", path: "/v1/tools?format=xml", token: token}, 422, "format", ""},
		{"no name", tool(`{"arguments":{}}`), 422, "name", ""},
		{"arguments a list", tool(`{"name":"calc","arguments":[1]}`), 422, "arguments", ""},
		{"arguments bad text", tool(`{"name":"calc","arguments":"{"}`), 422, "arguments", ""},
		{"arguments with a key twice", tool(`{"name":"calc","arguments":"{\"code\":\"1\",\"code\":\"2\"}"}`), 422, "arguments", ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			w := newLab(t).do(row.call)
			if w.Code != row.status || !strings.Contains(detail(w), row.detail) {
				t.Errorf("got %d %s, want %d with %q", w.Code, w.Body, row.status, row.detail)
			}
			if name, value, want := strings.Cut(row.header, ": "); want && w.Header().Get(name) != value {
				t.Errorf("header %s is %q, want %q", name, w.Header().Get(name), value)
			}
		})
	}
}

func TestRateLimitIs429(t *testing.T) {
	l := newLab(t)
	first := l.do(call{path: "/solve", token: slowToken, body: `{"code":"x"}`})
	second := l.do(call{path: "/solve", token: slowToken, body: `{"code":"x"}`})
	if first.Code != 200 || second.Code != 429 || second.Header().Get("Retry-After") == "" {
		t.Errorf("got %d, then %d with Retry-After %q", first.Code, second.Code, second.Header().Get("Retry-After"))
	}
}

func TestGatewayErrors(t *testing.T) {
	const leak = "leaked text of an error in /opt/secret"
	rows := []struct {
		err    error
		status int
		detail string
	}{
		{gateway.ErrUnknownTool, 404, "tool"},
		{gateway.ErrUnknownProfile, 422, "profile"},
		{gateway.ErrTooLarge, 413, "code is too large"},
		{gateway.ErrUnsupported, 422, "not supported"},
		{&gateway.InvalidError{Field: "stdin", Reason: "is too long"}, 422, "stdin: is too long"},
		{gateway.ErrBusy, 503, "busy: no free slot in time"},
		{gateway.ErrQueueFull, 503, "busy: as many requests wait as may"},
		{gateway.ErrNoPolicy, 503, "no policy is in force"},
		{gateway.ErrNoRules, 503, "for this language"},
		{gateway.ErrPolicyFault, 503, "verdict"},
		{gateway.ErrPluginDown, 503, "not running"},
		{gateway.ErrPluginBusy, 503, "busy"},
		{gateway.ErrPluginDied, 503, "died"},
		{gateway.ErrGone, 503, "given up"},
		{gateway.ErrPluginFault, 500, "request id"},
		{errors.New("nobody knows this"), 500, "request id"},
		{context.DeadlineExceeded, 500, "request id"},
	}
	for _, row := range rows {
		for _, path := range []string{"/solve", "/v1/run", "/v1/check"} {
			t.Run(row.err.Error()+path, func(t *testing.T) {
				l := newLab(t)
				l.python.submit = func(context.Context, executor.Source) (gateway.Submission, error) {
					return nil, fmt.Errorf("%s: %w", leak, row.err)
				}
				w := l.do(call{path: path, token: token, body: `{"code":"x"}`})
				if w.Code != row.status || !strings.Contains(detail(w), row.detail) {
					t.Errorf("got %d %s, want %d with %q", w.Code, w.Body, row.status, row.detail)
				}
				if hasRetry := w.Header().Get("Retry-After") != ""; hasRetry != (row.status == 503) {
					t.Errorf("Retry-After is there: %v, status %d", hasRetry, row.status)
				}
				if strings.Contains(w.Body.String(), "leaked") {
					t.Errorf("the error's text was shown: %s", w.Body)
				}
				if logged := strings.Contains(l.log.String(), leak); logged != (row.status == 500) {
					t.Errorf("the log has the cause: %v, status %d", logged, row.status)
				}
			})
		}
	}
}

func TestPolicyErrors(t *testing.T) {
	l := newLab(t)
	l.policy.currentErr = gateway.ErrNoPolicy
	if w := l.do(call{path: "/solve", token: token, body: `{"code":"x"}`}); w.Code != 503 {
		t.Errorf("no policy in force: %d", w.Code)
	}
	l.policy.currentErr, l.policy.err = nil, fmt.Errorf("took long: %w", gateway.ErrPolicyFault)
	if w := l.do(call{path: "/solve", token: token, body: `{"code":"x"}`}); w.Code != 503 {
		t.Errorf("no verdict: %d", w.Code)
	}
}

func TestPanicIs500AndLogged(t *testing.T) {
	l := newLab(t)
	l.python.submit = func(context.Context, executor.Source) (gateway.Submission, error) { panic("boom at /opt/secret") }
	w := l.do(call{path: "/solve", token: token, body: `{"code":"x"}`})
	if w.Code != 500 || strings.Contains(w.Body.String(), "boom") || strings.Contains(w.Body.String(), ".go") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	id := w.Header().Get("X-Request-Id")
	line := l.logLine("handler panicked")
	if line["request_id"] != id || !strings.Contains(fmt.Sprint(line["stack"]), "status_test.go") {
		t.Errorf("log line of the panic: %v", line)
	}
}

// logLine is the only line with that message.
func (l *lab) logLine(message string) map[string]any {
	l.t.Helper()
	var found []map[string]any
	for _, raw := range strings.Split(strings.TrimSpace(l.log.String()), "\n") {
		var line map[string]any
		if err := json.Unmarshal([]byte(raw), &line); err != nil {
			l.t.Fatalf("log line %q: %v", raw, err)
		}
		if line["msg"] == message {
			found = append(found, line)
		}
	}
	if len(found) != 1 {
		l.t.Fatalf("%d log lines %q in %s", len(found), message, l.log)
	}
	return found[0]
}

func TestOpenRoutes(t *testing.T) {
	l := newLab(t)
	if w := l.do(call{method: "GET", path: "/healthz"}); w.Code != 200 || w.Body.String() != "{\"status\":\"ok\"}\n" {
		t.Errorf("/healthz: %d %s", w.Code, w.Body)
	}
	if w := l.do(call{method: "GET", path: "/readyz"}); w.Code != 200 || w.Body.String() != "{\"status\":\"ready\"}\n" {
		t.Errorf("/readyz: %d %s", w.Code, w.Body)
	}
	l.ready = false
	if w := l.do(call{method: "GET", path: "/readyz"}); w.Code != 503 || w.Body.String() != "{\"status\":\"not ready\"}\n" {
		t.Errorf("/readyz: %d %s", w.Code, w.Body)
	}
	w := l.do(call{method: "GET", path: "/"})
	var d struct {
		Name, Version string
		Endpoints     []string
	}
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || d.Name != "Sluice" || d.Version != "9.9.9" {
		t.Errorf("/: %s", w.Body)
	}
	if !slices.Contains(d.Endpoints, "POST /solve") || !slices.Contains(d.Endpoints, "GET /") {
		t.Errorf("endpoints: %q", d.Endpoints)
	}
}

func TestRequestID(t *testing.T) {
	long := strings.Repeat("a", 128)
	for sent, echoed := range map[string]bool{"A-z.0_9": true, long: true, long + "a": false, "": false, "a b": false, "ä": false, "a\n": false} {
		w := newLab(t).do(call{method: "GET", path: "/healthz", header: map[string]string{"X-Request-Id": sent}})
		if got := w.Header().Get("X-Request-Id"); (got == sent) != echoed {
			t.Errorf("sent %q, got %q", sent, got)
		}
	}
}

func TestTraceparentReachesThePlugin(t *testing.T) {
	const traceID = "0af7651916cd43dd8448eb211c80319c"
	l := newLab(t)
	seen := ""
	l.python.submit = func(_ context.Context, src executor.Source) (gateway.Submission, error) {
		seen = src.Labels["traceparent"]
		return prints("", executor.Result{Status: executor.StatusOK}), nil
	}
	l.do(call{path: "/solve", token: token, body: `{"code":"x"}`, header: map[string]string{"Traceparent": "00-" + traceID + "-b7ad6b7169203331-01"}})
	if !strings.HasPrefix(seen, "00-"+traceID+"-") || !strings.HasSuffix(seen, "-01") || strings.Contains(seen, "b7ad6b7169203331") {
		t.Errorf("the plugin saw %q", seen)
	}
	for _, bad := range []string{"00-" + traceID + "-0000000000000000-01", "ff-" + traceID + "-b7ad6b7169203331-01", "00-x-b7ad6b7169203331-01"} {
		l.do(call{path: "/solve", token: token, body: `{"code":"x"}`, header: map[string]string{"Traceparent": bad}})
		if seen != "" {
			t.Errorf("sent %q, the plugin saw %q", bad, seen)
		}
	}
}
