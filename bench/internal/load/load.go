// Package load sends calls, in a closed loop (each client waits for its answer)
// or in an open one (calls leave at a fixed rate, answered or not), and keeps
// their times in HDR histograms.
//
// Begin with Closed and Open. It knows nothing of HTTP or of what is called.
// Every loop ends by itself: it is bounded in calls and in time.
package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Outcome is how a call ended that is no error.
type Outcome uint8

// The outcomes.
const (
	Answered Outcome = iota
	Shed             // refused for lack of room (HTTP 503 or 429)
)

// Call is one call by one client, who are numbered from 0. It is used by
// several goroutines, never by two for the same client.
type Call func(ctx context.Context, client int) (Outcome, error)

// Bounds of every plan, whatever it asks for.
const (
	MostClients  = 512
	MostRequests = 5_000_000
	LongestRun   = 2 * time.Hour
	mostErrors   = 20
)

// ErrPlan is a plan without an end, or beyond the bounds.
var ErrPlan = errors.New("the load has no end or is out of bounds")

// Result is what one loop saw.
type Result struct {
	Times    *hdrhistogram.Histogram // of answered calls, in microseconds
	Answered int64
	Shed     int64
	Errors   int64
	First    error // the first of the errors
	Elapsed  time.Duration
}

// PerSecond is the rate of answered calls.
func (r Result) PerSecond() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Answered) / r.Elapsed.Seconds()
}

// Millis is a percentile of the times of answered calls.
func (r Result) Millis(percentile float64) float64 {
	return float64(r.Times.ValueAtPercentile(percentile)) / 1000
}

// Merge adds what another loop saw.
func (r *Result) Merge(other Result) {
	r.Times.Merge(other.Times)
	r.Answered += other.Answered
	r.Shed += other.Shed
	r.Errors += other.Errors
	r.Elapsed += other.Elapsed
	if r.First == nil {
		r.First = other.First
	}
}

// NewResult is a result that saw nothing yet.
func NewResult() Result { return Result{Times: histogram()} }

func histogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, (5 * time.Minute).Microseconds(), 3)
}

// ClosedPlan is a closed loop: it ends at Requests calls of all clients
// together or after Time, whichever comes first, but not before each client
// has called once. Between an answer and the next call a client waits for Pause.
type ClosedPlan struct {
	Clients  int
	Requests int
	Time     time.Duration
	Pause    time.Duration
}

func (p ClosedPlan) ends() bool {
	return 1 <= p.Clients && p.Clients <= MostClients && 1 <= p.Requests && p.Requests <= MostRequests && 0 < p.Time && p.Time <= LongestRun && 0 <= p.Pause && p.Pause <= p.Time
}

// shedPause is how long a client of a closed loop pauses when it was refused
// for lack of room; those who heed Retry-After pause longer.
const shedPause = 50 * time.Millisecond

// Closed runs a closed loop. The error is about the plan or ctx; what calls
// gave is in the result. It stops early after twenty errors.
func Closed(ctx context.Context, p ClosedPlan, call Call) (Result, error) {
	if !p.ends() {
		return NewResult(), fmt.Errorf("%w: %d clients, %d requests, %v", ErrPlan, p.Clients, p.Requests, p.Time)
	}
	var taken, failed atomic.Int64
	begin := time.Now()
	end := begin.Add(p.Time)
	seen := each(p.Clients, func(client int, s *Result) {
		for first := true; taken.Add(1) <= int64(p.Requests) || first; first = false {
			if s.note(ctx, time.Now(), call, client, &failed) == Shed {
				sleepUntil(ctx, time.Now().Add(shedPause))
			}
			if ctx.Err() != nil || failed.Load() >= mostErrors || time.Now().After(end) {
				return
			}
			if p.Pause > 0 {
				sleepUntil(ctx, time.Now().Add(p.Pause))
			}
		}
	})
	seen.Elapsed = time.Since(begin)
	return seen, ctx.Err()
}

// OpenPlan is an open loop: PerSecond calls a second for Time, each timed from
// when it should have left, so that a stall of the callee is not forgiven.
// InFlight bounds the calls that are out at once.
type OpenPlan struct {
	PerSecond float64
	Time      time.Duration
	InFlight  int
}

// Open runs an open loop.
func Open(ctx context.Context, p OpenPlan, call Call) (Result, error) {
	total := int64(p.PerSecond * p.Time.Seconds())
	if p.InFlight < 1 || p.InFlight > MostClients || total < 1 || total > MostRequests || p.Time > LongestRun {
		return NewResult(), fmt.Errorf("%w: %v calls a second for %v, %d out at once", ErrPlan, p.PerSecond, p.Time, p.InFlight)
	}
	var taken, failed atomic.Int64
	begin := time.Now()
	seen := each(p.InFlight, func(client int, s *Result) {
		for {
			n := taken.Add(1) - 1
			if n >= total || failed.Load() >= mostErrors {
				return
			}
			due := begin.Add(time.Duration(float64(n) / p.PerSecond * float64(time.Second)))
			if !sleepUntil(ctx, due) {
				return
			}
			s.note(ctx, due, call, client, &failed)
		}
	})
	seen.Elapsed = time.Since(begin)
	return seen, ctx.Err()
}

// each runs do for every client at once and merges what they saw.
func each(clients int, do func(client int, s *Result)) Result {
	parts := make([]Result, clients)
	var all sync.WaitGroup
	for i := range parts {
		parts[i] = NewResult()
		all.Go(func() { do(i, &parts[i]) })
	}
	all.Wait()
	whole := NewResult()
	for _, part := range parts {
		whole.Merge(part)
	}
	return whole
}

func (r *Result) note(ctx context.Context, from time.Time, call Call, client int, failed *atomic.Int64) Outcome {
	outcome, err := call(ctx, client)
	took := time.Since(from)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		r.Errors++
		failed.Add(1)
		if r.First == nil {
			r.First = err
		}
	case outcome == Shed:
		r.Shed++
	default:
		r.Answered++
		_ = r.Times.RecordValue(min(max(1, took.Microseconds()), r.Times.HighestTrackableValue()))
	}
	return outcome
}

func sleepUntil(ctx context.Context, due time.Time) bool {
	wait := time.Until(due)
	if wait <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
