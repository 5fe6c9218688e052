package policy

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/open-policy-agent/opa/v1/topdown"
)

// Bounds of an evaluation beside its deadline.
const (
	// maxGrowth is how much the heap of the process may grow from the first look on
	// while an evaluation runs. Which of several makes it grow is not known: all
	// that are that old are stopped. What one builtin takes at once is not seen.
	maxGrowth = 512 << 20
	// looks is the time between two looks at the heap. Most evaluations have ended
	// before the first.
	looks = 25 * time.Millisecond
)

// errStopped is the end of an evaluation that took too much, and errLost of what
// could not be stopped.
var (
	errStopped = errors.New("it takes too much")
	errLost    = fmt.Errorf("%w: it has not ended", errStopped)
)

// apart does something on a goroutine of its own. When that has not ended in
// time, it is left behind and the error says so: OPA's compiler cannot be
// stopped, nor can a builtin. What was left behind must not be read any more.
func apart(within time.Duration, do func() error) error {
	ended := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				ended <- fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		ended <- do()
	}()
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return fmt.Errorf("%w within %v, and goes on until it does or the gateway is started again", errLost, within)
	}
}

// stopper stops an evaluation when its deadline is over, its caller gone, or its
// memory too much.
type stopper struct {
	within time.Duration
	growth uint64 // of the heap that is too much, in bytes
	cancel topdown.Cancel
	began  time.Time
	timer  *time.Timer
	gone   func() bool
	large  atomic.Bool // it was stopped for its memory
	heap   uint64      // the least at a look; look's own
}

func newStopper(ctx context.Context, within time.Duration, growth uint64) *stopper {
	s := &stopper{within: within, growth: growth, cancel: topdown.NewCancel(), began: time.Now()}
	s.timer = time.AfterFunc(time.Hour, s.look)
	s.timer.Reset(min(looks, within))
	s.gone = context.AfterFunc(ctx, s.cancel.Cancel)
	return s
}

// look is called again and again, by the timer alone, until there is nothing left
// to stop.
func (s *stopper) look() {
	left := s.within - time.Since(s.began)
	if left > 0 && s.grown() {
		s.large.Store(true)
	}
	if left <= 0 || s.large.Load() {
		s.cancel.Cancel()
		return
	}
	s.timer.Reset(min(looks, left))
}

// grown says whether the heap has grown too much.
func (s *stopper) grown() bool {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	now := sample[0].Value.Uint64()
	if s.heap == 0 || now < s.heap {
		s.heap = now
	}
	return now-s.heap > s.growth
}

// why says for what an evaluation was stopped.
func (s *stopper) why() error {
	if s.large.Load() {
		return fmt.Errorf("%w: no decision before the gateway's memory had grown by %d MiB", errStopped, s.growth>>20)
	}
	return fmt.Errorf("%w: no decision within %v", errStopped, s.within)
}

func (s *stopper) close() {
	s.timer.Stop()
	s.gone()
}
