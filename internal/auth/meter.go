package auth

import (
	"math"
	"time"

	"golang.org/x/time/rate"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// RateError says that a known token has been used too often.
type RateError struct {
	After time.Duration
	Used  *gateway.Quota
}

// Error implements error.
func (e *RateError) Error() string { return "the token's rate limit is reached" }

// RetryAfter is how long to wait before the next request.
func (e *RateError) RetryAfter() time.Duration { return e.After }

// Quota is how far the token's rate is used.
func (e *RateError) Quota() *gateway.Quota { return e.Used }

// meter counts a token's requests. Safe for concurrent use.
type meter struct{ limiter *rate.Limiter }

func newMeter(t Token) *meter {
	burst := t.Burst
	if burst == 0 {
		burst = max(1, int(math.Ceil(t.Rate)))
	}
	return &meter{rate.NewLimiter(rate.Limit(t.Rate), burst)}
}

func (m *meter) same(o *meter) bool {
	return m.limiter.Limit() == o.limiter.Limit() && m.limiter.Burst() == o.limiter.Burst()
}

// take counts a request at now. wait is 0 when it may go on; a request that must
// wait is not counted.
func (m *meter) take(now time.Time) (quota *gateway.Quota, wait time.Duration) {
	booking := m.limiter.ReserveN(now, 1)
	if wait = booking.DelayFrom(now); wait > 0 {
		booking.CancelAt(now)
	}
	return m.quota(now), wait
}

func (m *meter) quota(now time.Time) *gateway.Quota {
	perSecond, burst := float64(m.limiter.Limit()), m.limiter.Burst()
	left := math.Max(0, m.limiter.TokensAt(now))
	seconds := func(requests float64) time.Duration {
		return time.Duration(math.Ceil(requests/perSecond)) * time.Second
	}
	return &gateway.Quota{
		Requests: burst, Window: seconds(float64(burst)),
		Remaining: int(left), Reset: seconds(float64(burst) - left),
	}
}
