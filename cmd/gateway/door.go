package main

import (
	"context"
	"encoding/json"
	"net/http"
	"sync/atomic"
	"time"
)

// door stands before the front while the gateway stops: who is inside is
// finished, who comes is sent away, and health is still told.
type door struct {
	next   http.Handler
	leave  func() // ends what is open and idle; nil: nothing is
	closed atomic.Bool
	inside atomic.Int64
}

func newDoor(next http.Handler) *door { return &door{next: next} }

// ServeHTTP implements http.Handler.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" || (r.URL.Path == "/readyz" && !d.closed.Load()) {
		d.next.ServeHTTP(w, r)
		return
	}
	d.inside.Add(1)
	defer d.inside.Add(-1)
	if d.closed.Load() {
		sendAway(w, r)
		return
	}
	d.next.ServeHTTP(w, r)
}

// shut lets nobody in any more and waits until all have left, or ctx ends.
func (d *door) shut(ctx context.Context) {
	d.closed.Store(true)
	if d.leave != nil {
		d.leave()
	}
	tick := time.NewTicker(drainPoll)
	defer tick.Stop()
	for d.inside.Load() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// sendAway answers in the form of every error of the HTTP API, or as /readyz.
func sendAway(w http.ResponseWriter, r *http.Request) {
	id := newRequestID()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Connection", "close")
	w.Header().Set("X-Request-Id", id)
	var body any = map[string]string{"status": "not ready"}
	if r.URL.Path != "/readyz" {
		w.Header().Set("Retry-After", "1")
		body = struct {
			Detail    string `json:"detail"`
			RequestID string `json:"request_id"`
			Status    int    `json:"status"`
			Title     string `json:"title"`
		}{"the gateway is stopping", id, http.StatusServiceUnavailable, http.StatusText(http.StatusServiceUnavailable)}
	}
	w.WriteHeader(http.StatusServiceUnavailable)
	_ = json.NewEncoder(w).Encode(body) // an error is a caller who went away
}
