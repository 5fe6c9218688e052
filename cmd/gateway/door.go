package main

import (
	"context"
	"encoding/json"
	"net/http"
	"sync/atomic"
	"time"
)

// door stands before the front while the gateway stops: who is inside is
// finished, who comes is sent away, and health is still told. Where the socket
// outlives the process nobody is sent away: who has a connection is answered,
// who comes waits in the socket for the next process.
type door struct {
	next    http.Handler
	outlive bool   // the socket does
	leave   func() // ends what is open and idle; nil: nothing is
	closed  atomic.Bool
	inside  atomic.Int64
}

func newDoor(next http.Handler, outlive bool) *door { return &door{next: next, outlive: outlive} }

// ServeHTTP implements http.Handler.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	health := r.URL.Path == "/readyz"
	if r.URL.Path == "/healthz" || (health && !d.closed.Load()) {
		d.next.ServeHTTP(w, r)
		return
	}
	d.inside.Add(1)
	defer d.inside.Add(-1)
	if d.closed.Load() && (health || !d.outlive) {
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
	if d.outlive {
		return // the server waits for who is inside, and lets go of the socket meanwhile
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
	w.Header().Set("Connection", "close")
	if r.URL.Path != "/readyz" {
		w.Header().Set("Retry-After", "1")
		writeProblem(w, http.StatusServiceUnavailable, "the gateway is stopping")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Request-Id", newRequestID())
	w.WriteHeader(http.StatusServiceUnavailable)
	_ = json.NewEncoder(w).Encode(map[string]string{"status": "not ready"}) // an error is a caller who went away
}

// writeProblem answers in the form of every error of the HTTP API.
func writeProblem(w http.ResponseWriter, status int, detail string) {
	id := newRequestID()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Request-Id", id)
	w.WriteHeader(status)
	body := struct {
		Detail    string `json:"detail"`
		RequestID string `json:"request_id"`
		Status    int    `json:"status"`
		Title     string `json:"title"`
	}{detail, id, status, http.StatusText(status)}
	_ = json.NewEncoder(w).Encode(body) // an error is a caller who went away
}
