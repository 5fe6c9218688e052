package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Token is one credential that is accepted.
type Token struct {
	Name    string            // for the journal; unique
	Token   string            // in the clear; exactly one of Token and SHA256 is set
	SHA256  [sha256.Size]byte // of the token; zero: not set
	Scopes  []string          // "solve", "run", "tools" …; "*" is all; none: nothing may be done
	Profile string            // empty: the route's default
	Rate    float64           // requests a second; 0: not limited
	Burst   int               // requests at once under Rate; 0: Rate rounded up
}

// Errors of Authenticate, beside [*RateError]. A caller that sees any other
// error must treat it as ErrUnknown.
var (
	ErrMissing   = errors.New("no token was given")
	ErrUnknown   = errors.New("the token is not known")
	ErrAmbiguous = ambiguous{}
)

type ambiguous struct{}

func (ambiguous) Error() string { return "two different credentials were given" }

// Ambiguous tells a front, which does not know this package, that the fault is
// in the request and not in the token.
func (ambiguous) Ambiguous() bool { return true }

// RateError says that a known token has been used too often.
type RateError struct{ After time.Duration }

// Error implements error.
func (e *RateError) Error() string { return "the token's rate limit is reached" }

// RetryAfter is how long to wait before the next request.
func (e *RateError) RetryAfter() time.Duration { return e.After }

// Authenticator knows the tokens, by their digests. Safe for concurrent use.
type Authenticator struct {
	entries []entry
}

type entry struct {
	digest [sha256.Size]byte
	caller gateway.Caller
	rate   *rate.Limiter
}

// New makes an Authenticator. It is an error to give no token, an empty or
// unusable one, or the same name or token twice.
func New(tokens []Token) (*Authenticator, error) {
	if len(tokens) == 0 {
		return nil, errors.New("make authenticator: no token is configured")
	}
	a := &Authenticator{}
	for _, t := range tokens {
		e, err := newEntry(t)
		if err != nil {
			return nil, fmt.Errorf("read token %q: %w", t.Name, err)
		}
		for _, other := range a.entries {
			if other.caller.Name == e.caller.Name || other.digest == e.digest {
				return nil, fmt.Errorf("read token %q: its name or token is that of %q", t.Name, other.caller.Name)
			}
		}
		a.entries = append(a.entries, e)
	}
	return a, nil
}

func newEntry(t Token) (entry, error) {
	e := entry{digest: t.SHA256, caller: gateway.Caller{Name: t.Name, Profile: t.Profile, Scopes: slices.Clone(t.Scopes)}}
	given := t.SHA256 != [sha256.Size]byte{}
	switch {
	case t.Name == "":
		return entry{}, errors.New("it has no name")
	case given == (t.Token != ""):
		return entry{}, errors.New("exactly one of token and sha256 must be set")
	case !given:
		if why := unusable(t.Token); why != "" {
			return entry{}, errors.New("the token " + why)
		}
		e.digest = sha256.Sum256([]byte(t.Token))
	case t.SHA256 == sha256.Sum256(nil):
		return entry{}, errors.New("sha256 is that of an empty token")
	}
	if t.Rate < 0 || t.Burst < 0 {
		return entry{}, errors.New("rate and burst must not be negative")
	}
	if t.Rate > 0 {
		e.rate = rate.NewLimiter(rate.Limit(t.Rate), burst(t))
	}
	return e, nil
}

func burst(t Token) int {
	if t.Burst > 0 {
		return t.Burst
	}
	return max(1, int(math.Ceil(t.Rate)))
}

// Authenticate says who asks, from the header alone. Errors: ErrMissing,
// ErrUnknown, ErrAmbiguous, *RateError. Its time does not depend on which token
// is near to the one that was given.
func (a *Authenticator) Authenticate(r *http.Request) (gateway.Caller, error) {
	secret, err := credential(r.Header)
	if err != nil {
		return gateway.Caller{}, err
	}
	digest := sha256.Sum256([]byte(secret))
	found := -1
	for i := range a.entries {
		same := subtle.ConstantTimeCompare(a.entries[i].digest[:], digest[:])
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	if found < 0 {
		return gateway.Caller{}, ErrUnknown
	}
	return a.entries[found].admit()
}

func (e *entry) admit() (gateway.Caller, error) {
	if e.rate == nil {
		return e.caller, nil
	}
	booking := e.rate.Reserve()
	if wait := booking.Delay(); wait > 0 {
		booking.Cancel()
		return gateway.Caller{}, &RateError{After: wait}
	}
	return e.caller, nil
}
