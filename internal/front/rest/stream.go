package rest

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/front/toolcall"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

const eventStream = "text/event-stream"

// Times of an event stream.
const (
	keepAliveEvery = 15 * time.Second
	// eventTime bounds how long one event may take to go out.
	eventTime = 30 * time.Second
)

type decisionEvent struct {
	Allow      bool                `json:"allow"`
	Violations []gateway.Violation `json:"violations"`
	Policy     *toolcall.Policy    `json:"policy"`
}

type outputEvent struct {
	Text string `json:"text"`
}

// streamRun answers a run as it happens. What is wrong before the first event is
// an ordinary answer; after it, an event "error" with the same body.
func (s *server) streamRun(x *exchange, req gateway.Request) error {
	ctx, stop := context.WithCancel(x.r.Context())
	defer stop()
	e := &events{x: x, stop: stop, wake: make(chan struct{}, 1), every: s.keepAlive()}
	written := make(chan struct{})
	go func() {
		defer close(written)
		e.write()
	}()
	text := map[executor.Stream]*textEvents{
		executor.Stdout: {name: "stdout", to: e}, executor.Stderr: {name: "stderr", to: e},
	}
	ans, err := s.cfg.Gateway.SolveFollowed(ctx, req, gateway.Follower{
		Decided: func(d gateway.Decision) {
			e.push("decision", decisionEvent{d.Allow, append([]gateway.Violation{}, d.Violations...), toolcall.PolicyOf(&d)})
		},
		Output: func(stream executor.Stream, chunk []byte) {
			if t := text[stream]; t != nil {
				t.add(chunk)
			}
		},
	})
	if err == nil && x.unanswered(req, ans) {
		err = gateway.ErrGone
	}
	text[executor.Stdout].flush()
	text[executor.Stderr].flush()
	if err == nil {
		e.push("result", toolcall.FullAnswer(ans))
	}
	e.close(err)
	<-written
	if x.status == 0 {
		return err
	}
	if errors.Is(err, gateway.ErrGone) {
		x.logged = statusGone
	}
	return nil
}

func (s *server) keepAlive() time.Duration {
	if s.cfg.KeepAlive > 0 {
		return s.cfg.KeepAlive
	}
	return keepAliveEvery
}

// events is a queue of events and the goroutine that writes them: a reader that
// is slow does not hold the program up. What a program can put into it is
// bounded by its output limits.
type events struct {
	x     *exchange
	stop  context.CancelFunc // ends the run when its reader is gone
	every time.Duration
	wake  chan struct{}

	mu     sync.Mutex
	queue  []byte
	closed bool
	fault  error
}

func (e *events) push(name string, v any) {
	raw, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return // the types above always encode
	}
	e.mu.Lock()
	e.queue = append(e.queue, "event: "+name+"\ndata: "...)
	e.queue = append(append(e.queue, raw...), "\n\n"...)
	e.mu.Unlock()
	e.ring()
}

func (e *events) ring() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// close ends the stream once the queue is empty.
func (e *events) close(fault error) {
	e.mu.Lock()
	e.closed, e.fault = true, fault
	e.mu.Unlock()
	e.ring()
}

func (e *events) take() (queue []byte, closed bool, fault error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	queue, e.queue = e.queue, nil
	return queue, e.closed, e.fault
}

// write runs until the queue is closed. Before the first event, a fault is left
// to be answered in the ordinary way.
func (e *events) write() {
	ticker := time.NewTicker(e.every)
	defer ticker.Stop()
	for {
		alive := []byte(nil)
		select {
		case <-e.wake:
		case <-ticker.C:
			alive = []byte(": keep-alive\n\n")
		}
		queue, closed, fault := e.take()
		if fault != nil && e.x.status != 0 {
			queue = append(queue, e.faultEvent(fault)...)
		}
		if fault != nil && e.x.status == 0 {
			return
		}
		if len(queue) == 0 {
			queue = alive
		}
		if len(queue) > 0 && !e.send(queue) {
			e.stop()
		}
		if closed {
			return
		}
	}
}

func (e *events) faultEvent(fault error) []byte {
	body := e.x.problemOf(fault)
	raw, err := json.Marshal(body)
	if err != nil {
		return nil
	}
	return append(append([]byte("event: error\ndata: "), raw...), "\n\n"...)
}

// send writes events out; false: the reader is gone.
func (e *events) send(queue []byte) bool {
	x := e.x
	control := http.NewResponseController(x.ResponseWriter)
	_ = control.SetWriteDeadline(time.Now().Add(eventTime)) // a writer without a connection has none
	if x.status == 0 {
		h := x.Header()
		h.Set("Content-Type", eventStream)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no") // proxies are to hand events on at once
		h.Set("X-Content-Type-Options", "nosniff")
		x.WriteHeader(http.StatusOK)
	}
	if _, err := x.Write(queue); err != nil {
		return false
	}
	err := control.Flush()
	return err == nil || errors.Is(err, http.ErrNotSupported)
}

// textEvents makes events of a stream's chunks, whose ends may lie within a
// character.
type textEvents struct {
	name string
	to   *events
	rest []byte
}

func (t *textEvents) add(chunk []byte) {
	all := slices.Concat(t.rest, chunk)
	whole := len(all)
	for n := 1; n < utf8.UTFMax && n <= len(all); n++ {
		if b := all[len(all)-n]; utf8.RuneStart(b) {
			if !utf8.FullRune(all[len(all)-n:]) {
				whole = len(all) - n
			}
			break
		}
	}
	t.send(all[:whole])
	t.rest = all[whole:]
}

func (t *textEvents) flush() {
	t.send(t.rest)
	t.rest = nil
}

func (t *textEvents) send(b []byte) {
	if len(b) > 0 {
		t.to.push(t.name, outputEvent{Text: string(b)})
	}
}
