package rest

import (
	"context"
	"net/http"
	"time"
)

// maxPaced bounds how many refusals wait at once; further ones are told at once.
const maxPaced = 512

// pace tells refusals that ask for patience a little later. Who asks again at
// once, whatever Retry-After says, would otherwise take the processor from those
// who are served: fifty such clients made ten thousand refusals a second.
type pace struct {
	pause time.Duration // 0: none
	slots chan struct{}
}

func newPace(pause time.Duration) *pace {
	return &pace{pause: pause, slots: make(chan struct{}, maxPaced)}
}

// hold waits, until ctx ends at most.
func (p *pace) hold(ctx context.Context, r refusal) {
	patience := r.retry > 0 && (r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable)
	if p.pause <= 0 || !patience {
		return
	}
	select {
	case p.slots <- struct{}{}:
	default:
		return
	}
	defer func() { <-p.slots }()
	timer := time.NewTimer(p.pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
