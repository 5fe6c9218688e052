package auth

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// ShortToken is the length, in characters, under which a token could be guessed.
const ShortToken = 16

// GuardConfig is what a Guard is made of.
type GuardConfig struct {
	// PerMinute is how many wrong tokens an address may send a minute, and at
	// once; it is more than 0.
	PerMinute int
	Proxies   []netip.Prefix // whose word on the caller's address is taken
	Log       *slog.Logger
	Now       func() time.Time // nil: time.Now
	Pause     time.Duration    // before a held back caller's answer; 0: none
}

// The bounds of a Guard: how many addresses it remembers, the least recently
// seen being forgotten, and how many callers it lets wait at once.
const (
	guardAddresses = 16384
	guardHeld      = 512
)

// Guard holds back who sends wrong tokens, by address (an IPv6 caller's is its
// /64). An address that has sent too many is answered 429, after a pause: who
// floods from few connections is slowed at no cost to others.
//
// A right token is let in from every address, so that a stranger cannot lock out
// callers who share a proxy with him; apart from one shorter than ShortToken,
// which could be guessed: a held back address may not try those.
//
// Safe for concurrent use.
type Guard struct {
	cfg   GuardConfig
	seen  *lru.Cache[netip.Addr, *rate.Limiter]
	slots chan struct{}
}

// NewGuard makes a Guard that has seen nobody.
func NewGuard(cfg GuardConfig) (*Guard, error) {
	seen, err := lru.New[netip.Addr, *rate.Limiter](guardAddresses)
	if err != nil {
		return nil, err
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Guard{cfg: cfg, seen: seen, slots: make(chan struct{}, guardHeld)}, nil
}

// FloodError says that too many wrong tokens came from the caller's address.
type FloodError struct{ After time.Duration }

// Error implements error.
func (e *FloodError) Error() string { return "too many wrong tokens came from this address" }

// RetryAfter is when the address may try again.
func (e *FloodError) RetryAfter() time.Duration { return e.After }

// Detail is what the caller may be shown.
func (e *FloodError) Detail() string { return e.Error() + ": wait, and send a valid one" }

// Hostile tells a front that the caller is not known, and need not be told of in
// the log each time.
func (e *FloodError) Hostile() bool { return true }

// before refuses a token that could be guessed to an address that is held back.
func (g *Guard) before(r *http.Request, secret string) error {
	if len(secret) >= ShortToken {
		return nil
	}
	limiter, known := g.seen.Get(g.address(r))
	if !known || limiter.TokensAt(g.cfg.Now()) >= 1 {
		return nil
	}
	return g.hold(r.Context(), limiter)
}

// failed counts a wrong token. It gives ErrUnknown while there are few.
func (g *Guard) failed(r *http.Request) error {
	address := g.address(r)
	limiter := rate.NewLimiter(rate.Limit(float64(g.cfg.PerMinute)/60), g.cfg.PerMinute)
	if have, known, _ := g.seen.PeekOrAdd(address, limiter); known {
		limiter = have
		g.seen.Get(address) // it was seen just now
	}
	now := g.cfg.Now()
	if limiter.AllowN(now, 1) {
		if limiter.TokensAt(now) < 1 {
			g.cfg.Log.Warn("too many wrong tokens: the address is held back", "address", address.String(), "per_minute", g.cfg.PerMinute)
		}
		return ErrUnknown
	}
	return g.hold(r.Context(), limiter)
}

// hold lets the caller wait for its refusal, as long as there is room.
func (g *Guard) hold(ctx context.Context, limiter *rate.Limiter) error {
	missing := 1 - limiter.TokensAt(g.cfg.Now())
	after := time.Duration(missing / float64(limiter.Limit()) * float64(time.Second))
	refusal := &FloodError{After: max(after, time.Second)}
	if g.cfg.Pause <= 0 {
		return refusal
	}
	select {
	case g.slots <- struct{}{}:
	default:
		return refusal
	}
	defer func() { <-g.slots }()
	pause := time.NewTimer(g.cfg.Pause)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	}
	return refusal
}

func (g *Guard) address(r *http.Request) netip.Addr { return callerAddress(r, g.cfg.Proxies) }
