package admin

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Scope is what a token needs where one is asked for.
const Scope = "admin"

// Authenticator says who asks, from a request's header alone.
type Authenticator interface {
	Authenticate(r *http.Request) (gateway.Caller, error)
}

// Policy is the policy in force, for those who look after it.
type Policy interface {
	// Status is what GET /admin/policy shows, as JSON.
	Status() any
	// Reload puts the policy's folder in force. On any fault the one before
	// stays, and the error says what is wrong, with file:line where it has one.
	Reload(ctx context.Context) error
}

// Config is what the front is made of. All but Routes must be set.
type Config struct {
	Auth    Authenticator
	Policy  Policy
	Metrics http.Handler
	Log     *slog.Logger
	// Loopback says that the listener can be reached from this machine alone.
	Loopback bool
	// Routes are what other rooms add, by pattern of net/http with its method
	// ("GET /admin/plugins"). They are behind the same guard.
	Routes map[string]http.Handler
}

type server struct {
	cfg    Config
	origin *http.CrossOriginProtection
	index  []string
}

// New makes the handler of the admin listener. It is safe for concurrent use.
func New(cfg Config) http.Handler {
	s := &server{cfg: cfg, origin: http.NewCrossOriginProtection()}
	mux := http.NewServeMux()
	routes := map[string]http.Handler{
		"GET /metrics":              cfg.Metrics,
		"GET /admin/policy":         http.HandlerFunc(s.policy),
		"POST /admin/policy/reload": http.HandlerFunc(s.reload),
		"GET /debug/pprof/":         http.HandlerFunc(s.profiles),
		"GET /{$}":                  http.HandlerFunc(s.list),
	}
	for pattern, handler := range cfg.Routes {
		routes[pattern] = handler
	}
	allow := map[string][]string{}
	for pattern, handler := range routes {
		mux.Handle(pattern, handler)
		method, path, _ := strings.Cut(pattern, " ")
		allow[path] = append(allow[path], method)
		s.index = append(s.index, strings.TrimSuffix(pattern, "{$}"))
	}
	slices.SortFunc(s.index, func(a, b string) int { return cmp.Compare(pathOf(a), pathOf(b)) })
	for path, methods := range allow {
		mux.Handle(path, s.wrongMethod(methods))
	}
	mux.HandleFunc("/", s.unknown)
	return s.guard(mux)
}

func pathOf(pattern string) string {
	_, path, _ := strings.Cut(pattern, " ")
	return path
}

// ServerFor is an http.Server for the handler. A profile of the process takes
// as long as it is asked to, up to longestProfile.
func ServerFor(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 20 * time.Second, WriteTimeout: 3 * time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), DisableGeneralOptionsHandler: true,
	}
}

// guard lets in who may, and tells a panic.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.recover(w, r)
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("X-Request-Id", strings.ToLower(rand.Text())) // handlers read it there
		if err := s.admit(r); err != nil {
			s.refuse(w, err)
			return
		}
		f := &formed{ResponseWriter: w}
		next.ServeHTTP(f, r)
		if f.status != 0 {
			s.refuse(w, f.fault())
		}
	})
}

func (s *server) recover(w http.ResponseWriter, r *http.Request) {
	fault := recover()
	if fault == nil {
		return
	}
	if fault == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
		panic(fault)
	}
	s.cfg.Log.Error("admin handler panicked", "request_id", requestID(w), "route", r.Pattern, "panic", fault, "stack", string(debug.Stack()))
	s.refuse(w, refusal{status: http.StatusInternalServerError, detail: ours})
}

// admit says whether a request may be answered.
func (s *server) admit(r *http.Request) error {
	if s.cfg.Loopback && !throughProxy(r) {
		if !ownName(r.Host) {
			return refusal{status: http.StatusForbidden, detail: "this Host is not one of this machine's: ask http://127.0.0.1 or http://localhost, or forward with a token"}
		}
		if err := s.origin.Check(asPost(r)); err != nil || twice(r.Header) {
			return refusal{status: http.StatusForbidden, detail: "a web page of another origin asks for this"}
		}
		return nil
	}
	caller, err := s.cfg.Auth.Authenticate(r)
	switch {
	case err != nil:
		return unknownCaller(err)
	case !caller.May(Scope):
		return refusal{status: http.StatusForbidden, detail: "the token does not have the scope " + Scope}
	}
	return nil
}

// throughProxy says whether somebody forwarded the request: then it may come
// from anywhere.
func throughProxy(r *http.Request) bool {
	for name := range r.Header { // an empty line first would hide the proxy's own from Get
		if strings.HasPrefix(name, "X-Forwarded") || strings.HasPrefix(name, "Cf-") || slices.Contains(
			[]string{"Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "X-Original-Forwarded-For", "True-Client-Ip", "X-Envoy-External-Address"}, name) {
			return true
		}
	}
	return false
}

// asPost is the request as the check of origins should see it: a profile costs
// the process something, so a page of elsewhere may not even GET.
func asPost(r *http.Request) *http.Request {
	asked := *r
	asked.Method = http.MethodPost
	return &asked
}

// twice says whether a header that a browser sends once is there several times:
// the check of origins reads the first alone, which may be empty.
func twice(h http.Header) bool {
	return len(h.Values("Origin")) > 1 || len(h.Values("Sec-Fetch-Site")) > 1
}

// ownName says whether a Host names this machine: localhost, or a loopback
// address.
func ownName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func (s *server) json(w http.ResponseWriter, status int, v any) {
	raw, err := json.Marshal(v, json.Deterministic(true), json.FormatNilSliceAsNull(true))
	if err != nil {
		s.cfg.Log.Error("encode an admin answer", "request_id", requestID(w), "error", err)
		status, raw = http.StatusInternalServerError, []byte(`{}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(raw, '\n')) // an error here is a caller who went away
}

func (s *server) list(w http.ResponseWriter, _ *http.Request) {
	s.json(w, http.StatusOK, map[string]any{"endpoints": s.index})
}

func (s *server) unknown(w http.ResponseWriter, _ *http.Request) {
	s.refuse(w, refusal{status: http.StatusNotFound, detail: "no such route; GET / lists them"})
}

// longestProfile bounds a profile or trace: net/http/pprof lengthens the
// answer's own limit by what is asked for.
const longestProfile = 120

// profiles are net/http/pprof's, but for the process's command line.
func (s *server) profiles(w http.ResponseWriter, r *http.Request) {
	if text := r.FormValue("seconds"); text != "" {
		if n, err := strconv.ParseFloat(text, 64); err != nil || !(n >= 0 && n <= longestProfile) {
			s.refuse(w, refusal{status: http.StatusBadRequest, detail: fmt.Sprintf("seconds is a number from 0 to %d", longestProfile)})
			return
		}
	}
	switch r.URL.Path {
	case "/debug/pprof/profile":
		pprof.Profile(w, r)
	case "/debug/pprof/trace":
		pprof.Trace(w, r)
	default:
		pprof.Index(w, r)
	}
}

func (s *server) wrongMethod(methods []string) http.Handler {
	slices.Sort(methods)
	allow := strings.Join(methods, ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allow)
		s.refuse(w, refusal{status: http.StatusMethodNotAllowed, detail: "this route takes " + allow})
	})
}

func (s *server) policy(w http.ResponseWriter, _ *http.Request) {
	s.json(w, http.StatusOK, s.cfg.Policy.Status())
}

// reload puts the policy's folder in force, or tells why not: the text of the
// fault is for an operator, who may see a policy's file and line.
func (s *server) reload(w http.ResponseWriter, r *http.Request) {
	if err := s.cfg.Policy.Reload(r.Context()); err != nil {
		s.refuse(w, refusal{status: http.StatusUnprocessableEntity, detail: err.Error()})
		return
	}
	s.json(w, http.StatusOK, s.cfg.Policy.Status())
}
