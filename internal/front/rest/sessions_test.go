package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

func toolCall(name, code, more string) call {
	raw, _ := json.Marshal(code)
	return call{path: "/v1/tools/call", token: token, body: fmt.Sprintf(`{"name":%q,"arguments":{"code":%s}%s}`, name, raw, more)}
}

type sessionText struct {
	ID       string    `json:"session_id"`
	Language string    `json:"language"`
	Default  bool      `json:"default"`
	Created  time.Time `json:"created_at"`
	Expires  time.Time `json:"expires_at"`
	Cells    int       `json:"cells"`
	Memory   int       `json:"memory_bytes"`
	State    string    `json:"state"`
}

func read[T any](t *testing.T, w *httptest.ResponseRecorder, status int) (v T) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil || w.Code != status {
		t.Fatalf("%d %s, want %d", w.Code, w.Body, status)
	}
	return v
}

func (l *lab) session(method, path, body string) *httptest.ResponseRecorder {
	return l.do(call{method: method, path: "/v1/sessions" + path, token: token, body: body})
}

func TestToolCallsShareTheDefaultSession(t *testing.T) {
	l, n := newKeepingLab(t)
	first := observe(t, l.do(toolCall("stateful_python_code_exec", "+a", "")))
	if !first.OK || first.Output != "None" || first.SessionID == nil || !strings.HasPrefix(*first.SessionID, "s_") || *first.State != "new" {
		t.Fatalf("%+v", first)
	}
	for _, name := range []string{"Stateful-Python-Code-Exec", "python", "code_interpreter", "python-exec", " PYTHON_CODE_EXEC "} {
		o := observe(t, l.do(toolCall(name, "all", "")))
		if o.Output != "a" || *o.SessionID != *first.SessionID || *o.State != "kept" {
			t.Errorf("%s: %+v", name, o)
		}
	}
	o := observe(t, l.do(toolCall("calculator", "+b;", "")))
	if *o.SessionID != *first.SessionID {
		t.Errorf("several statements for the calculator: %+v", o)
	}
	if o := observe(t, l.do(toolCall("calc", "1+1", ""))); o.Output != "1+1" || o.SessionID != nil || o.State != nil {
		t.Errorf("an expression: %+v", o)
	}
	if w := l.do(toolCall("python", "all", `,"session_id":"s_nosuch"`)); w.Code != 404 || !strings.Contains(detail(w), "session") {
		t.Errorf("no such session: %d %s", w.Code, w.Body)
	}
	if w := l.do(toolCall("python", "all", `,"session_id":""`)); w.Code != 422 {
		t.Errorf("empty id: %d %s", w.Code, w.Body)
	}
	if o := observe(t, l.do(toolCall("python", " ", ""))); o.OK || o.Output != "code is empty" || o.State != nil {
		t.Errorf("no code: %+v", o)
	}
	l.close()
	if strings.Contains(l.journal.String(), *first.SessionID) || strings.Contains(l.log.String(), *first.SessionID) {
		t.Error("a session's id is written down")
	}
	if !strings.Contains(l.journal.String(), `"session_state":"kept"`) {
		t.Errorf("journal: %s", l.journal)
	}
	if n.sources[0].Tool != "stateful_python_code_exec" || !n.sources[0].ValueWanted {
		t.Errorf("the plugin saw %+v", n.sources[0])
	}
}

func TestObservationsOfCells(t *testing.T) {
	l, _ := newKeepingLab(t)
	for _, row := range []struct{ code, want, status, state string }{
		{"all", "None", "completed", "new"},
		{"say text", "text", "completed", "kept"},
		{"raise", "NameError: name 'x' is not defined", "error", "kept"},
		{"kill", "timed out after 120s\nThe session stands as it was before this cell.", "timeout", "rolled_back"},
		{"gone", "the program was ended by signal SIGSEGV\nWhat earlier cells made is gone: the session starts afresh.", "crash", "lost"},
		{"all", "None", "completed", "new"},
	} {
		o := observe(t, l.do(toolCall("python", row.code, "")))
		if o.Output != row.want || o.Status != row.status || *o.State != row.state || o.OK != (row.status == "completed") {
			t.Errorf("%q: %+v, state %s", row.code, o, *o.State)
		}
	}
}

func TestIndentedCells(t *testing.T) {
	l, n := newKeepingLab(t)
	for sent, want := range map[string]string{
		"   7": "7", "\n\n  8\n\n": "\n\n8\n\n", "\tb = 5\n\tb": "b = 5\nb", "  if x:\n      y\n\n  z": "if x:\n    y\n\nz",
		" a\nb": "a\nb", "a\n  b": "a\n  b", "x\r\ny": "x\r\ny", "  a\r\n  b": "a\r\nb",
	} {
		observe(t, l.do(toolCall("python", sent, "")))
		if got := string(n.sources[len(n.sources)-1].Code); got != want {
			t.Errorf("%q was run as %q, want %q", sent, got, want)
		}
	}
}

func TestStatefulToolIsListedWithTheLimitInForce(t *testing.T) {
	l, _ := newKeepingLab(t)
	w := l.do(call{method: "GET", path: "/v1/tools", token: token})
	if !strings.Contains(w.Body.String(), `"name":"stateful_python_code_exec","description":"Times out after 120.0 seconds."`) {
		t.Errorf("got %s", w.Body)
	}
}

func TestLifeOfASession(t *testing.T) {
	l, n := newKeepingLab(t)
	w := l.session("POST", "", `{"ttl_seconds":60}`)
	s := read[sessionText](t, w, http.StatusCreated)
	if s.Language != "python" || s.Default || s.State != "idle" || s.Expires.Sub(s.Created) < time.Minute || s.Expires.Sub(s.Created) > time.Hour/2 ||
		w.Header().Get("Location") != "/v1/sessions/"+s.ID {
		t.Errorf("%+v, %v", s, w.Header())
	}
	with := `,"session_id":"` + s.ID + `"`
	observe(t, l.do(toolCall("python", "+a", with)))
	s = read[sessionText](t, l.session("GET", "/"+s.ID, ""), 200)
	if s.Cells != 1 || s.Memory != 5000 {
		t.Errorf("after a cell: %+v", s)
	}
	f := read[sessionText](t, l.session("POST", "/"+s.ID+"/fork", ""), http.StatusCreated)
	observe(t, l.do(toolCall("python", "+b", `,"session_id":"`+f.ID+`"`)))
	if o := observe(t, l.do(toolCall("python", "all", `,"session_id":"`+f.ID+`"`))); o.Output != "ab" {
		t.Errorf("the fork: %+v", o)
	}
	if o := observe(t, l.do(toolCall("python", "all", with))); o.Output != "a" {
		t.Errorf("the first: %+v", o)
	}
	read[sessionText](t, l.session("POST", "/"+s.ID+"/reset", `{"wait":1}`), 200)
	if o := observe(t, l.do(toolCall("python", "all", with))); o.Output != "None" || *o.State != "kept" {
		t.Errorf("after a reset: %+v", o)
	}
	i := read[struct {
		ID          string `json:"session_id"`
		Interrupted bool
	}](t, l.session("POST", "/"+s.ID+"/interrupt", "{}"), 200)
	if i.ID != s.ID || i.Interrupted {
		t.Errorf("interrupt at rest: %+v", i)
	}
	list := read[struct{ Sessions []sessionText }](t, l.session("GET", "", ""), 200)
	if len(list.Sessions) != 2 || list.Sessions[0].ID != s.ID || list.Sessions[1].ID != f.ID {
		t.Errorf("%+v", list)
	}
	if w := l.session("DELETE", "/"+s.ID, ""); w.Code != 204 || w.Body.Len() != 0 {
		t.Errorf("delete: %d %s", w.Code, w.Body)
	}
	for _, c := range []call{{method: "GET", path: ""}, {method: "DELETE", path: ""}, {path: "/fork"}, {path: "/reset"}, {path: "/interrupt"}} {
		c.path, c.token = "/v1/sessions/"+s.ID+c.path, token
		if w := l.do(c); w.Code != 404 || !strings.Contains(detail(w), "session") {
			t.Errorf("%s %s after its end: %d %s", c.method, c.path, w.Code, w.Body)
		}
	}
	if len(n.pages) != 1 {
		t.Errorf("the plugin holds %d sessions", len(n.pages))
	}
}

func TestSessionRefusals(t *testing.T) {
	l, n := newKeepingLab(t)
	for _, row := range []struct {
		path, body string
		status     int
		detail     string
	}{
		{"", `{"ttl_seconds":0}`, 422, "ttl_seconds"},
		{"", `{"ttl_seconds":"x"}`, 422, "ttl_seconds"},
		{"", `{"language":"cobol"}`, 422, "language"},
		{"", `{"language":"calc"}`, 422, "not supported"},
		{"", `[]`, 400, "object"},
		{"/s_x/fork", `{"wait":-1}`, 422, "wait"},
		{"/s_x/reset", `{"wait":"x"}`, 422, "wait"},
		{"/s_x/interrupt", `{`, 400, "JSON"},
		{"/s_x/fork", ``, 404, "session"},
		{"/s_x/nosuch", ``, 404, "route"},
	} {
		if w := l.session("POST", row.path, row.body); w.Code != row.status || !strings.Contains(detail(w), row.detail) {
			t.Errorf("%s %s: %d %s", row.path, row.body, w.Code, w.Body)
		}
	}
	if w := l.session("PUT", "", ""); w.Code != 405 || w.Header().Get("Allow") != "POST, GET, HEAD" {
		t.Errorf("PUT: %d, %q", w.Code, w.Header().Get("Allow"))
	}
	for range 3 {
		read[sessionText](t, l.session("POST", "", ""), 201)
	}
	if w := l.session("POST", "", ""); w.Code != 429 || w.Header().Get("Retry-After") == "" {
		t.Errorf("the token's cap: %d %s", w.Code, w.Body)
	}
	list := read[struct{ Sessions []sessionText }](t, l.session("GET", "", ""), 200)
	l.session("DELETE", "/"+list.Sessions[0].ID, "")
	n.full = gateway.ErrSessionsFull
	if w := l.session("POST", "", ""); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("the overall cap: %d %s", w.Code, w.Body)
	}
	if w := l.do(call{path: "/v1/sessions", token: solveOnly}); w.Code != 403 {
		t.Errorf("without the scope: %d", w.Code)
	}
}

func TestBusySessionAndInterrupt(t *testing.T) {
	l, n := newKeepingLab(t)
	s := read[sessionText](t, l.session("POST", "", ""), 201)
	with := `,"session_id":"` + s.ID + `"`
	answer := make(chan observed, 1)
	go func() { answer <- observe(t, l.do(toolCall("python", "wait", with))) }()
	await(t, n.waiting, "the cell's start")
	if w := l.do(toolCall("python", "all", with+`,"wait":0`)); w.Code != 409 || !strings.Contains(detail(w), "running another cell") {
		t.Errorf("a second cell: %d %s", w.Code, w.Body)
	}
	if got := read[sessionText](t, l.session("GET", "/"+s.ID, ""), 200); got.State != "running" {
		t.Errorf("%+v", got)
	}
	if w := l.session("POST", "/"+s.ID+"/interrupt", ""); w.Code != 200 || !strings.Contains(w.Body.String(), `"interrupted":true`) {
		t.Errorf("interrupt: %d %s", w.Code, w.Body)
	}
	o := <-answer
	if o.OK || o.Status != "cancelled" || *o.State != "rolled_back" {
		t.Errorf("the cell: %+v", o)
	}
}

func TestRunInASession(t *testing.T) {
	l, _ := newKeepingLab(t)
	s := read[sessionText](t, l.session("POST", "", ""), 201)
	w := l.do(call{path: "/v1/run", token: token, body: `{"code":"+a","session_id":"` + s.ID + `","stdin":"in"}`})
	if w.Code != 200 || !strings.Contains(w.Body.String(), `"session":{"session_id":"`+s.ID+`","state":"kept"}`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := l.do(call{path: "/v1/run", token: token, body: `{"tool":"calculator","code":"1","session_id":"` + s.ID + `"}`}); w.Code != 404 {
		t.Errorf("another language: %d %s", w.Code, w.Body)
	}
}

// TestAToolThatIsNotThere: the answer says which key names one, since a request
// for another language that leaves it out is for Python.
func TestAToolThatIsNotThere(t *testing.T) {
	l := newLab(t)
	for _, path := range []string{"/v1/run", "/v1/check"} {
		if w := l.do(call{path: path, token: token, body: `{"tool":"fish","code":"1"}`}); w.Code != 404 || !strings.Contains(detail(w), `"tool" is a name of GET /v1/tools`) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
