package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestDoorFinishesWhoIsInsideAndSendsOthersAway(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	d := newDoor(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(entered)
			<-leave
		}
		w.WriteHeader(http.StatusOK)
	}), false)
	ask := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		d.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		return w
	}
	slow := make(chan int, 1)
	go func() { slow <- ask("/slow").Code }()
	<-entered
	shut := make(chan struct{})
	go func() { d.shut(context.Background()); close(shut) }()
	for !d.closed.Load() {
		time.Sleep(time.Millisecond)
	}
	if got := ask("/healthz").Code; got != http.StatusOK {
		t.Errorf("/healthz answers %d", got)
	}
	if got := ask("/readyz"); got.Code != http.StatusServiceUnavailable || got.Body.String() != "{\"status\":\"not ready\"}\n" {
		t.Errorf("/readyz answers %d %s", got.Code, got.Body)
	}
	got := ask("/solve")
	var problem struct {
		Detail    string
		RequestID string `json:"request_id"`
		Status    int
	}
	if err := json.Unmarshal(got.Body.Bytes(), &problem); err != nil {
		t.Fatal(err)
	}
	if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" ||
		problem.RequestID != got.Header().Get("X-Request-Id") || problem.Status != got.Code {
		t.Errorf("/solve answers %d %v %+v", got.Code, got.Header(), problem)
	}
	select {
	case <-shut:
		t.Error("the door was shut before the last one had left")
	default:
	}
	close(leave)
	if code := <-slow; code != http.StatusOK {
		t.Errorf("who was inside got %d", code)
	}
	<-shut
}

func TestDoorDoesNotWaitForEver(*testing.T) {
	d := newDoor(http.NotFoundHandler(), false)
	d.inside.Add(1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	d.shut(ctx)
}
