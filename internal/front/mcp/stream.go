package mcp

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The times within which a client must take what is sent to it.
const (
	eventTime  = 30 * time.Second
	answerTime = time.Minute
)

const eventStream = "text/event-stream"

// stream is the ResponseWriter that the protocol's handlers see. It keeps what
// waits alive, hands events on at once, and gives errors the form of all others
// here. Its writer may be used from several goroutines; finish ends that.
type stream struct {
	to     http.ResponseWriter
	id     string         // of the request
	about  jsontext.Value // the id of the message that is answered; nil: not known
	header http.Header
	every  time.Duration
	first  chan time.Duration
	over   chan struct{}
	ended  chan struct{}

	mu     sync.Mutex
	status int  // 0: nothing was answered yet
	events bool // the answer is an event stream
	forced bool // it became one before the handler had anything to say
	text   bytes.Buffer
	fault  int // status of an error whose text is collected
}

func (f *Front) stream(w http.ResponseWriter, id string) *stream {
	s := &stream{
		to: w, id: id, header: http.Header{}, every: f.cfg.Times.KeepAlive,
		first: make(chan time.Duration, 1), over: make(chan struct{}), ended: make(chan struct{}),
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // a writer without a connection has none
	go s.keepAlive()
	return s
}

// Header implements http.ResponseWriter. It is the handlers' own: what is sent
// early must not race with it.
func (s *stream) Header() http.Header { return s.header }

// Unwrap lets http.ResponseController reach the connection.
func (s *stream) Unwrap() http.ResponseWriter { return s.to }

// WriteHeader implements http.ResponseWriter.
func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(status)
}

// begin is WriteHeader, with the lock held.
func (s *stream) begin(status int) {
	if s.status != 0 || s.fault != 0 {
		return
	}
	if status >= http.StatusBadRequest && strings.HasPrefix(s.header.Get("Content-Type"), "text/plain") {
		s.fault = status
		return
	}
	for name, values := range s.header {
		s.to.Header()[name] = values
	}
	s.send(status, s.header.Get("Content-Type"))
}

func (s *stream) send(status int, mediaType string) {
	h := s.to.Header()
	if s.events = mediaType == eventStream; s.events {
		h.Set("X-Accel-Buffering", "no") // proxies are to hand events on at once
	}
	if mediaType != "" {
		h.Set("Content-Type", mediaType)
	}
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	s.status = status
	s.to.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(http.StatusOK)
	switch {
	case s.fault != 0:
		return s.text.Write(p)
	case s.forced && !bytes.HasPrefix(p, []byte("event: ")) && !bytes.HasPrefix(p, []byte(":")):
		// an error that was to have a status of its own: too late for that
		_, err := s.put(append(append([]byte("event: message\ndata: "), p...), "\n\n"...))
		return len(p), err
	}
	_, err := s.put(coded(p))
	return len(p), err
}

func (s *stream) put(p []byte) (int, error) {
	_ = http.NewResponseController(s.to).SetWriteDeadline(time.Now().Add(eventTime))
	return s.to.Write(p)
}

// FlushError implements what http.ResponseController looks for.
func (s *stream) FlushError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == 0 {
		return nil
	}
	return http.NewResponseController(s.to).Flush()
}

// earlyAfter has the answer begin as an event stream, should the handler have
// nothing to say for so long: proxies give up on what is silent.
func (s *stream) earlyAfter(wait time.Duration) { s.first <- wait }

// keepAlive sends comments while the answer is an open event stream.
func (s *stream) keepAlive() {
	defer close(s.ended)
	timer := time.NewTimer(s.every)
	defer timer.Stop()
	early := false
	for {
		select {
		case <-s.over:
			return
		case wait := <-s.first:
			early = true
			timer.Reset(wait)
		case <-timer.C:
			s.comment(early)
			timer.Reset(s.every)
		}
	}
}

func (s *stream) comment(early bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if early && s.status == 0 && s.fault == 0 {
		s.forced = true
		s.send(http.StatusOK, eventStream)
	}
	if s.status == 0 || !s.events {
		return
	}
	if _, err := s.put([]byte(": keep-alive\n\n")); err == nil {
		_ = http.NewResponseController(s.to).Flush() // a fault shows at the next write
	}
}

// finish ends the answer; nobody writes after it.
func (s *stream) finish() {
	close(s.over)
	<-s.ended
	s.mu.Lock()
	fault, text := s.fault, s.text.String()
	s.fault = 0
	s.mu.Unlock()
	if fault != 0 {
		s.header.Del("Content-Type")
		s.header.Del("Content-Length")
		s.refuse(fault, 0, s.about, sentence(text))
	}
	_ = http.NewResponseController(s.to).SetWriteDeadline(time.Now().Add(answerTime))
}
