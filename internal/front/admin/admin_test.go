package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/internal/auth"
	"github.com/sluice-gateway/sluice/internal/front/admin"
)

const (
	adminToken = "token-of-an-operator"
	solveToken = "token-of-a-caller"
)

type standing struct{ fault error }

func (s *standing) Status() any                  { return map[string]string{"revision": "abc"} }
func (s *standing) Reload(context.Context) error { return s.fault }

func front(t *testing.T, loopback bool, policy *standing) http.Handler {
	t.Helper()
	authenticator, err := auth.New([]auth.Token{
		{Name: "operator", Token: adminToken, Scopes: []string{admin.Scope}}, {Name: "caller", Token: solveToken, Scopes: []string{"solve"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	say := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
	}
	return admin.New(admin.Config{
		Auth: authenticator, Policy: policy, Metrics: say("metrics"), Log: slog.New(slog.DiscardHandler), Loopback: loopback,
		Routes: map[string]http.Handler{
			"GET /admin/plugins": say("plugins"),
			"GET /admin/plain": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, "secret of a fault", http.StatusInternalServerError)
			}),
			"GET /admin/panic": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("secret of a panic") }),
		},
	})
}

type ask struct {
	method, path, host string
	header             map[string]string
}

func do(h http.Handler, a ask) *httptest.ResponseRecorder {
	r := httptest.NewRequest(a.method, a.path, http.NoBody)
	r.Host = a.host
	for name, value := range a.header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestWhoIsLetIn(t *testing.T) {
	bearer := func(token string) map[string]string { return map[string]string{"Authorization": "Bearer " + token} }
	for name, c := range map[string]struct {
		beyond bool // the listener is not on loopback
		ask    ask
		want   int
	}{
		"localhost":                  {ask: ask{host: "localhost:7861"}, want: 200},
		"127.0.0.1":                  {ask: ask{host: "127.0.0.1:7861"}, want: 200},
		"another loopback address":   {ask: ask{host: "127.1.2.3"}, want: 200},
		"::1":                        {ask: ask{host: "[::1]:7861"}, want: 200},
		"a name that resolves here":  {ask: ask{host: "evil.example:7861"}, want: 403},
		"a name that begins so":      {ask: ask{host: "localhost.evil.example"}, want: 403},
		"no host":                    {ask: ask{host: ""}, want: 403},
		"a proxy without a token":    {ask: ask{host: "localhost", header: map[string]string{"X-Forwarded-For": "203.0.113.5"}}, want: 401},
		"an empty forwarded header":  {ask: ask{host: "localhost", header: map[string]string{"X-Forwarded-For": ""}}, want: 401},
		"a proxy that says https":    {ask: ask{host: "localhost", header: map[string]string{"X-Forwarded-Proto": "https"}}, want: 401},
		"a GET of a page elsewhere":  {ask: ask{host: "localhost", header: map[string]string{"Sec-Fetch-Site": "cross-site"}}, want: 403},
		"beyond, nothing":            {beyond: true, ask: ask{host: "localhost"}, want: 401},
		"beyond, a wrong token":      {beyond: true, ask: ask{host: "x", header: bearer("nobody's token")}, want: 401},
		"beyond, a token of callers": {beyond: true, ask: ask{host: "x", header: bearer(solveToken)}, want: 403},
		"beyond, an operator":        {beyond: true, ask: ask{host: "x", header: bearer(adminToken)}, want: 200},
	} {
		c.ask.method, c.ask.path = http.MethodGet, "/admin/policy"
		w := do(front(t, !c.beyond, &standing{}), c.ask)
		if w.Code != c.want {
			t.Errorf("%s: answered %d, want %d: %s", name, w.Code, c.want, w.Body)
		}
		if w.Code >= 400 {
			wantProblem(t, name, w)
		}
	}
}

func TestProfilesAreBounded(t *testing.T) {
	for _, path := range []string{"trace?seconds=1e9", "profile?seconds=121", "heap?seconds=-1", "trace?seconds=NaN"} {
		w := do(front(t, true, &standing{}), ask{method: http.MethodGet, path: "/debug/pprof/" + path, host: "localhost"})
		if w.Code != http.StatusBadRequest {
			t.Errorf("%s: answered %d", path, w.Code)
		}
		wantProblem(t, path, w)
	}
}

// wantProblem wants the one form of errors, and no token in it.
func wantProblem(t *testing.T, name string, w *httptest.ResponseRecorder) {
	t.Helper()
	var body struct {
		Detail    string `json:"detail"`
		RequestID string `json:"request_id"`
		Status    int    `json:"status"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || body.Detail == "" || body.RequestID == "" || body.RequestID != w.Header().Get("X-Request-Id") || body.Status != w.Code {
		t.Errorf("%s: the error is %q (%v)", name, w.Body, err)
	}
	for _, secret := range []string{adminToken, solveToken, "nobody's token", "secret of a panic", "secret of a fault"} {
		if strings.Contains(w.Body.String(), secret) {
			t.Errorf("%s: the error holds %q", name, secret)
		}
	}
}

func TestAPageOfAnotherOriginChangesNothing(t *testing.T) {
	for _, header := range []map[string]string{
		{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}, {"Origin": "null"},
	} {
		w := do(front(t, true, &standing{}), ask{method: http.MethodPost, path: "/admin/policy/reload", host: "localhost:7861", header: header})
		if w.Code != http.StatusForbidden {
			t.Errorf("%v: answered %d, want 403", header, w.Code)
		}
	}
}

// TestOriginTwice: a header line that is empty does not hide the one behind it.
func TestOriginTwice(t *testing.T) {
	for _, name := range []string{"Origin", "Sec-Fetch-Site"} {
		r := httptest.NewRequest(http.MethodPost, "/admin/policy/reload", http.NoBody)
		r.Host, r.Header[name] = "localhost:7861", []string{"", "https://evil.example"}
		w := httptest.NewRecorder()
		front(t, true, &standing{}).ServeHTTP(w, r)
		if w.Code != http.StatusForbidden {
			t.Errorf("%s twice: answered %d, want 403", name, w.Code)
		}
	}
}

// TestPatience: who is to wait is told for how long, for a rate and for wrong
// tokens.
func TestPatience(t *testing.T) {
	guard, err := auth.NewGuard(auth.GuardConfig{PerMinute: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	known, err := auth.NewWith([]auth.Token{{Name: "slow", Token: adminToken, Scopes: []string{admin.Scope}, Rate: 0.01, Burst: 1}}, auth.Options{Guard: guard})
	if err != nil {
		t.Fatal(err)
	}
	h := admin.New(admin.Config{Auth: known, Policy: &standing{}, Metrics: http.NotFoundHandler(), Log: slog.New(slog.DiscardHandler)})
	asking := func(header map[string]string) *httptest.ResponseRecorder {
		return do(h, ask{method: http.MethodGet, path: "/admin/policy", host: "x", header: header})
	}
	for token, first := range map[string]int{adminToken: 200, "nobody's token": 401} {
		header := map[string]string{"Authorization": "Bearer " + token}
		if w := asking(header); w.Code != first {
			t.Errorf("the first time: answered %d, want %d", w.Code, first)
		}
		w := asking(header)
		if seconds, err := strconv.Atoi(w.Header().Get("Retry-After")); w.Code != http.StatusTooManyRequests || err != nil || seconds < 1 {
			t.Errorf("after %d: answered %d, Retry-After %q", first, w.Code, w.Header().Get("Retry-After"))
		}
		wantProblem(t, "too often", w)
	}
	if w := asking(map[string]string{"Authorization": "Bearer " + adminToken, "X-Api-Key": "nobody's token"}); w.Code != http.StatusBadRequest {
		t.Errorf("two credentials: answered %d, want 400 as on the public listener", w.Code)
	}
}

func TestRoutes(t *testing.T) {
	policy := &standing{}
	h := front(t, true, policy)
	for _, c := range []struct {
		method, path string
		status       int
		holds        string
	}{
		{"GET", "/", 200, `"POST /admin/policy/reload"`},
		{"GET", "/metrics", 200, "metrics"},
		{"GET", "/admin/policy", 200, `"revision":"abc"`},
		{"POST", "/admin/policy/reload", 200, `"revision":"abc"`},
		{"GET", "/admin/policy/reload", 405, "this route takes POST"},
		{"GET", "/admin/plugins", 200, "plugins"},
		{"GET", "/admin/panic", 500, "the log has the cause"},
		{"GET", "/admin/nothing", 404, "no such route"},
		{"GET", "/debug/pprof/", 200, "goroutine"},
		{"GET", "/debug/pprof/goroutine?debug=1", 200, "goroutine profile"},
		{"GET", "/debug/pprof/cmdline", 404, "Unknown profile"},
		{"GET", "/admin/plain", 500, "the log has the cause"},
	} {
		w := do(h, ask{method: c.method, path: c.path, host: "localhost"})
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.holds) {
			t.Errorf("%s %s answered %d %.200s, want %d with %q", c.method, c.path, w.Code, w.Body, c.status, c.holds)
		}
		if c.status >= 400 {
			wantProblem(t, c.path, w)
		}
	}
	policy.fault = errors.New("allowlist.rego:12: rego_type_error: undefined ref")
	w := do(h, ask{method: http.MethodPost, path: "/admin/policy/reload", host: "localhost"})
	if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "allowlist.rego:12") {
		t.Errorf("a fault of the policy answered %d %s", w.Code, w.Body)
	}
	wantProblem(t, "a fault of the policy", w)
}
