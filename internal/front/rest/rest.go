package rest

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Authenticator says who asks, from a request's header alone.
//
// An error with a method Ambiguous() bool that gives true is the request's
// fault (400), one with RetryAfter() time.Duration a limit of the token or of the
// caller's address (429); any other error is a token that is missing or wrong
// (401). Detail() string is shown to the caller, Quota() told in the header, and
// one whose Hostile() bool gives true is not worth a line in the log.
type Authenticator interface {
	Authenticate(r *http.Request) (gateway.Caller, error)
}

// Config is what the front is made of. All but NewID, Beside, KeepAlive
// and Observe must be set.
type Config struct {
	Gateway *gateway.Gateway
	Auth    Authenticator
	Version string
	Limits  Limits
	Log     *slog.Logger
	Ready   func() bool   // a policy is in force and every enabled plugin is healthy
	NewID   func() string // makes request ids; nil: random ones

	Beside []Beside // routes of other fronts

	KeepAlive time.Duration // between comments in an event stream; 0: 15 s
	Pause     time.Duration // before a refusal that asks for patience; 0: none

	// Observe is told of each exchange at its end; nil: nobody is. route is a
	// pattern of the table, empty before one was found.
	Observe func(method, route string, status int, took time.Duration)
}

// Limits are the front's own bounds.
type Limits struct {
	BodyBytes int64         // of a request's body
	BodyTime  time.Duration // until a body is there whole; 0: 20 s
	CodeBytes int           // as the gateway's; told to callers
}

type server struct {
	cfg     Config
	pace    *pace
	mux     *http.ServeMux
	routes  []route
	openAPI []byte
}

// New makes the handler of every public route. It is safe for concurrent use.
func New(cfg Config) http.Handler {
	cfg.NewID = orRandom(cfg.NewID)
	s := &server{cfg: cfg, pace: newPace(cfg.Pause), mux: http.NewServeMux(), openAPI: openAPI(cfg.Version)}
	s.routes = s.table()
	for _, b := range cfg.Beside {
		s.routes = append(s.routes, b.routes()...)
	}
	allow, problems := map[string][]string{}, map[string]func(int, string, string) any{}
	for _, r := range s.routes {
		s.mux.Handle(r.pattern(), s.handler(r))
		if r.method != "" {
			allow[r.path], problems[r.path] = append(allow[r.path], r.method), r.problem
		}
	}
	for route, methods := range allow {
		wrong := wrongMethod(route, methods)
		wrong.problem = problems[route]
		s.mux.Handle(route, s.handler(wrong))
	}
	s.mux.Handle("/", s.handler(route{path: "none", open: true, handle: notFound}))
	return s
}

func orRandom(newID func() string) func() string {
	if newID != nil {
		return newID
	}
	return func() string { return strings.ToLower(rand.Text()) }
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := s.begin(w, r)
	enter(r, phaseBusy)
	defer enter(r, phaseFlush)
	defer x.end()
	if !plainPath(r.URL.Path) {
		x.refuse(notFound(x))
		return
	}
	s.mux.ServeHTTP(x, r)
}

// plainPath keeps paths from the mux that it would answer with a redirect.
func plainPath(p string) bool {
	clean := path.Clean(p)
	return strings.HasPrefix(p, "/") && (p == clean || p == clean+"/")
}

func (s *server) handler(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := w.(*exchange) //nolint:forcetypeassert // ServeHTTP hands over nothing else
		x.r, x.route, x.problem = r, rt.path, rt.problem
		if err := x.admit(rt); err != nil {
			x.refuse(err)
			return
		}
		if err := rt.handle(x); err != nil {
			x.refuse(err)
		}
	})
}
