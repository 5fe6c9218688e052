package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Scope is what a token needs to use this front.
const Scope = "tools"

// Config is what the front is made of.
type Config struct {
	Gateway *gateway.Gateway
	Version string
	Log     *slog.Logger
	Limits  Limits
	Times   Times

	Extend Extension

	// Recheck says who asks now, as when a request was let in, and counts nothing;
	// nil: who was let in stays so while the answer is open.
	Recheck func(r *http.Request) (gateway.Caller, error)
}

// Extension adds to each caller's server what no plugin describes: prompts,
// resources, completions. Its functions may be nil.
type Extension struct {
	Options func(*sdk.ServerOptions) // before the server is made
	Server  func(*sdk.Server)        // after it was made
}

// Limits are the front's own bounds.
type Limits struct {
	CodeBytes int           // as the gateway's; told to callers
	BodyBytes int64         // of one message
	Sessions  int           // of the protocol (before 2026-07-28) for one caller; 0: 64
	Idle      time.Duration // after which such a session ends; 0: 30 min
}

// Times say how soon a caller who waits hears something.
type Times struct {
	Early     time.Duration // until the first bytes of a running call's answer; 0: 1 s
	KeepAlive time.Duration // between comments after that, and between looks at whether the token stands; 0: 15 s
	Progress  time.Duration // between notifications that say that a cell still runs; 0: 5 s
}

func (c Config) withDefaults() Config {
	if c.Limits.Sessions == 0 {
		c.Limits.Sessions = 64
	}
	orDefault(&c.Limits.Idle, 30*time.Minute)
	orDefault(&c.Times.Early, time.Second)
	orDefault(&c.Times.KeepAlive, 15*time.Second)
	orDefault(&c.Times.Progress, 5*time.Second)
	return c
}

func orDefault(d *time.Duration, otherwise time.Duration) {
	if *d == 0 {
		*d = otherwise
	}
}

// Front serves the protocol. Safe for concurrent use.
type Front struct {
	cfg     Config
	modern  http.Handler
	legacy  http.Handler
	streams streams
	closing context.Context
	close   context.CancelFunc

	mu    sync.Mutex
	desks map[string]*desk // by the caller's name
}

// New makes a front; what of cfg has no default must be set.
func New(cfg Config) *Front {
	f := &Front{cfg: cfg.withDefaults(), desks: map[string]*desk{}, streams: streams{open: map[string]*sseSession{}}}
	f.closing, f.close = context.WithCancel(context.Background())
	f.modern = withVisit(sdk.NewStreamableHTTPHandler(f.serverFor, &sdk.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, DisableLocalhostProtection: true,
		MaxRequestBodyBytes: f.cfg.Limits.BodyBytes,
	}))
	f.legacy = withVisit(sdk.NewStreamableHTTPHandler(f.serverFor, &sdk.StreamableHTTPOptions{
		SessionTimeout: f.cfg.Limits.Idle, DisableLocalhostProtection: true,
		MaxRequestBodyBytes: f.cfg.Limits.BodyBytes,
	}))
	return f
}

// Leave ends the streams on which nothing runs, so that a stop need not wait for
// them; calls that run are finished.
func (f *Front) Leave() { f.close() }

// whileAdmitted ends an answer on which nothing runs, by end, when its caller is
// not let in any more. It returns with ctx.
func (f *Front) whileAdmitted(ctx context.Context, end func(), r *http.Request) {
	if f.cfg.Recheck == nil {
		return
	}
	tick := time.NewTicker(f.cfg.Times.KeepAlive)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if caller, err := f.cfg.Recheck(r); err != nil || !caller.May(Scope) {
				end()
				return
			}
		}
	}
}

// serverFor is the server of a request's caller.
func (f *Front) serverFor(r *http.Request) *sdk.Server {
	v := visitIn(r.Context())
	if v == nil {
		return nil
	}
	return f.deskOf(*v.caller.Load()).server
}

// withVisit hands the visit on to the handlers of a session: they run in the
// context of the request that opened it, and learn by the token of the one that
// they answer. Credentials end here.
func withVisit(next http.Handler) http.Handler {
	verify := func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		v := visitIn(ctx)
		if v == nil {
			return nil, auth.ErrInvalidToken
		}
		caller := v.caller.Load()
		return &auth.TokenInfo{UserID: caller.Name, Scopes: caller.Scopes, Extra: map[string]any{visitName: v}}, nil
	}
	known := auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := r.Header.Clone()
		header.Del("X-Api-Key")
		header.Set("Authorization", "Bearer known")
		r.Header = header
		known.ServeHTTP(w, r)
	})
}
