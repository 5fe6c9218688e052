package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Token is one credential that is accepted.
type Token struct {
	Name        string            // for the journal; unique
	Token       string            // in the clear; exactly one of Token and SHA256 is set
	SHA256      [sha256.Size]byte // of the token; zero: not set
	Scopes      []string          // of Scopes(); "*" is all; none: nothing may be done
	Profile     string            // empty: the route's default
	NotBefore   time.Time         // not valid before; zero: at once
	Expires     time.Time         // not valid from then on; zero: never
	Rate        float64           // requests a second; 0: not limited
	Burst       int               // requests at once under Rate; 0: Rate rounded up
	Concurrency int               // submissions at once; 0: not limited
}

// AllScopes in a Token's Scopes stands for every scope. The file of named tokens
// cannot say it.
const AllScopes = "*"

// Scopes lists what a token may be allowed, in the order of the documents.
func Scopes() []string { return []string{"solve", "run", "tools", "sessions", "policy:read", "admin"} }

// Errors of Authenticate, beside [*RateError] and [*FloodError]. A caller that
// sees any other error must treat it as ErrUnknown.
var (
	ErrMissing   = errors.New("no token was given")
	ErrUnknown   = errors.New("the token is not known")
	ErrAmbiguous = ambiguous{}
	ErrExpired   = told("the token has expired")
	ErrNotYet    = told("the token is not valid yet")
)

type ambiguous struct{}

func (ambiguous) Error() string { return "two different credentials were given" }

// Ambiguous tells a front, which does not know this package, that the fault is
// in the request and not in the token.
func (ambiguous) Ambiguous() bool { return true }

// told is an error whose text a front may show to the caller.
type told string

func (t told) Error() string { return string(t) }

// Detail is what the caller may be shown.
func (t told) Detail() string { return string(t) }

// Authenticator knows the tokens, by their digests. Safe for concurrent use.
type Authenticator struct {
	guard   *Guard // nil: nobody is held back
	now     func() time.Time
	current atomic.Pointer[[]*entry]
}

type entry struct {
	digest            [sha256.Size]byte
	caller            gateway.Caller
	notBefore, expiry time.Time
	meter             *meter // nil: no rate
}

// Options are what an Authenticator can do without.
type Options struct {
	Guard *Guard           // holds back who sends wrong tokens
	Now   func() time.Time // nil: time.Now
}

// New is NewWith without options.
func New(tokens []Token) (*Authenticator, error) { return NewWith(tokens, Options{}) }

// NewWith makes an Authenticator. It is an error to give no token, an empty or
// unusable one, or the same name or token twice.
func NewWith(tokens []Token, o Options) (*Authenticator, error) {
	if len(tokens) == 0 {
		return nil, errors.New("make authenticator: no token is configured")
	}
	a := &Authenticator{guard: o.Guard, now: o.Now}
	if a.now == nil {
		a.now = time.Now
	}
	commit, err := a.Prepare(tokens)
	if err != nil {
		return nil, err
	}
	commit()
	return a, nil
}

// Prepare checks other tokens and gives the function that puts them in force, in
// one step. What a token has used of its rate stays used when the token and its
// rate stay. Unlike New it takes an empty list: then nobody is let in.
func (a *Authenticator) Prepare(tokens []Token) (commit func(), err error) {
	entries := make([]*entry, 0, len(tokens))
	names, digests := map[string]bool{}, map[[sha256.Size]byte]string{}
	for _, t := range tokens {
		e, err := a.newEntry(t)
		if err != nil {
			return nil, fmt.Errorf("read token %q: %w", t.Name, err)
		}
		if other, twice := digests[e.digest]; twice || names[t.Name] {
			if !twice {
				other = t.Name
			}
			return nil, fmt.Errorf("read token %q: its name or token is that of %q", t.Name, other)
		}
		names[t.Name], digests[e.digest] = true, t.Name
		entries = append(entries, e)
	}
	return func() { a.current.Store(&entries) }, nil
}

// Names lists the tokens in force.
func (a *Authenticator) Names() []string {
	var names []string
	for _, e := range a.entries() {
		names = append(names, e.caller.Name)
	}
	return names
}

func (a *Authenticator) entries() []*entry {
	if now := a.current.Load(); now != nil {
		return *now
	}
	return nil
}

func (a *Authenticator) newEntry(t Token) (*entry, error) {
	e := &entry{notBefore: t.NotBefore, expiry: t.Expires, caller: gateway.Caller{
		Name: t.Name, Profile: t.Profile, Scopes: slices.Clone(t.Scopes), Concurrency: t.Concurrency,
	}}
	var err error
	if e.digest, err = digestOf(t); err != nil {
		return nil, err
	}
	switch {
	case t.Name == "":
		return nil, errors.New("it has no name")
	case t.Rate < 0 || t.Burst < 0:
		return nil, errors.New("rate and burst must not be negative")
	case t.Concurrency < 0:
		return nil, errors.New("concurrency must not be negative")
	case !t.Expires.IsZero() && !t.Expires.After(t.NotBefore):
		return nil, errors.New("it expires before it begins to be valid")
	case t.Rate > 0:
		e.meter = a.meterFor(t, e.digest)
	}
	return e, nil
}

func digestOf(t Token) (digest [sha256.Size]byte, err error) {
	given := t.SHA256 != [sha256.Size]byte{}
	switch {
	case given == (t.Token != ""):
		return digest, errors.New("exactly one of token and sha256 must be set")
	case given && t.SHA256 == sha256.Sum256(nil):
		return digest, errors.New("sha256 is that of an empty token")
	case given:
		return t.SHA256, nil
	}
	if why := unusable(t.Token); why != "" {
		return digest, errors.New("the token " + why)
	}
	return sha256.Sum256([]byte(t.Token)), nil
}

// meterFor is the meter that the same token has now, or a new one.
func (a *Authenticator) meterFor(t Token, digest [sha256.Size]byte) *meter {
	fresh := newMeter(t)
	for _, e := range a.entries() {
		if e.caller.Name == t.Name && e.digest == digest && e.meter != nil && e.meter.same(fresh) {
			return e.meter
		}
	}
	return fresh
}

// Authenticate says who asks, from the header alone. Errors: ErrMissing,
// ErrUnknown, ErrAmbiguous, ErrExpired, ErrNotYet, *RateError, *FloodError. Its
// time does not depend on which token is near to the one that was given. Who is
// held back for wrong tokens waits here a moment, until the request's context
// ends at most.
func (a *Authenticator) Authenticate(r *http.Request) (gateway.Caller, error) {
	secret, err := credential(r.Header)
	if err != nil {
		return gateway.Caller{}, err
	}
	if a.guard != nil {
		if err := a.guard.before(r, secret); err != nil {
			return gateway.Caller{}, err
		}
	}
	found := a.find(secret)
	if found == nil {
		if a.guard != nil {
			return gateway.Caller{}, a.guard.failed(r)
		}
		return gateway.Caller{}, ErrUnknown
	}
	return found.admit(a.now())
}

// Recheck says who asks now, as Authenticate does, and counts nothing: for a
// request that was let in and whose answer is still open. Errors: ErrMissing,
// ErrUnknown, ErrAmbiguous, ErrExpired, ErrNotYet.
func (a *Authenticator) Recheck(r *http.Request) (gateway.Caller, error) {
	secret, err := credential(r.Header)
	if err != nil {
		return gateway.Caller{}, err
	}
	found := a.find(secret)
	if found == nil {
		return gateway.Caller{}, ErrUnknown
	}
	if err := found.outside(a.now()); err != nil {
		return gateway.Caller{}, err
	}
	return found.caller, nil
}

func (a *Authenticator) find(secret string) *entry {
	digest := sha256.Sum256([]byte(secret))
	entries := a.entries()
	found := -1
	for i := range entries {
		same := subtle.ConstantTimeCompare(entries[i].digest[:], digest[:])
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	if found < 0 {
		return nil
	}
	return entries[found]
}

// outside is an error outside of the token's times.
func (e *entry) outside(now time.Time) error {
	switch {
	case now.Before(e.notBefore):
		return ErrNotYet
	case !e.expiry.IsZero() && !now.Before(e.expiry):
		return ErrExpired
	}
	return nil
}

func (e *entry) admit(now time.Time) (gateway.Caller, error) {
	if err := e.outside(now); err != nil {
		return gateway.Caller{}, err
	}
	if e.meter == nil {
		return e.caller, nil
	}
	quota, wait := e.meter.take(now)
	if wait > 0 {
		return gateway.Caller{}, &RateError{After: wait, Used: quota}
	}
	caller := e.caller
	caller.Quota = quota
	return caller, nil
}
