package listener_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/internal/listener"
)

const waitLimit = 2 * time.Minute

// bounded serves next on loopback with so many connections at once.
func bounded(t *testing.T, limit int, next http.Handler) (*listener.Bound, string) {
	t.Helper()
	raw, err := listener.Listen(t.Context(), "127.0.0.1:0", "listen")
	if err != nil {
		t.Fatal(err)
	}
	b := listener.NewBound(raw, limit, slog.New(slog.DiscardHandler))
	server := &http.Server{Handler: b.Handler(next), ConnContext: b.Context, ReadHeaderTimeout: waitLimit}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(b) })
	t.Cleanup(func() { _ = server.Close(); served.Wait() })
	return b, raw.Addr().String()
}

type client struct {
	net.Conn
	in *bufio.Reader
}

func dial(t *testing.T, address string) *client {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(waitLimit))
	return &client{Conn: c, in: bufio.NewReader(c)}
}

func (c *client) ask(path string) error {
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path); err != nil {
		return err
	}
	answer, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", answer.Status)
	}
	return answer.Body.Close()
}

// closed waits until the other side has closed the connection.
func (c *client) closed() bool {
	_, err := c.in.ReadByte()
	return err != nil && !strings.Contains(err.Error(), "timeout")
}

func ok(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }

// Who says nothing, or only half a head, makes room for who asks; who has asked
// before goes after them.
func TestTheLongestWithoutARequestMakesRoom(t *testing.T) {
	b, address := bounded(t, 4, http.HandlerFunc(ok))
	asked := dial(t, address)
	if err := asked.ask("/"); err != nil {
		t.Fatal(err)
	}
	silent := dial(t, address)
	awaitOpen(t, b, 2)
	slow := dial(t, address)
	fmt.Fprint(slow, "GET / HTTP/1.1\r\nHo")
	awaitOpen(t, b, 3)
	late := dial(t, address)
	awaitOpen(t, b, 4)

	one, two := dial(t, address), dial(t, address)
	if err := one.ask("/"); err != nil {
		t.Error(err)
	}
	if !silent.closed() {
		t.Error("the silent one was not closed")
	}
	if err := two.ask("/"); err != nil {
		t.Error(err)
	}
	if !slow.closed() {
		t.Error("the slow one was not closed")
	}
	for _, c := range []*client{asked, late, one, two} {
		if err := c.ask("/"); err != nil {
			t.Errorf("one that was in nobody's way: %v", err)
		}
	}
	// Now all have asked: one of those at rest goes.
	if err := dial(t, address).ask("/"); err != nil {
		t.Error(err)
	}
	gone := 0
	for _, c := range []*client{asked, late, one, two} {
		if c.ask("/") != nil {
			gone++
		}
	}
	if gone != 1 {
		t.Errorf("%d made room for one", gone)
	}
}

func awaitOpen(t *testing.T, b *listener.Bound, n int) {
	t.Helper()
	for end := time.Now().Add(waitLimit); b.Open() != n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections, want %d", b.Open(), n)
		}
	}
}

// A connection with a request at work is never closed for another; that one
// waits.
func TestAtWorkMeansSpared(t *testing.T) {
	leave := make(chan struct{})
	entered := make(chan struct{}, 2)
	b, address := bounded(t, 2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			entered <- struct{}{}
			<-leave
		}
		ok(w, r)
	}))
	answers := make(chan error, 3)
	for range 2 {
		c := dial(t, address)
		go func() { answers <- c.ask("/slow") }()
	}
	<-entered
	<-entered
	third := dial(t, address)
	go func() { answers <- third.ask("/") }()
	if n := b.Open(); n != 2 {
		t.Errorf("%d connections", n)
	}
	select {
	case err := <-answers:
		t.Errorf("one was answered too early: %v", err)
	default:
	}
	close(leave)
	for range 3 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
}

// Closing ends an Accept that waits for room.
func TestCloseWhileThereIsNoRoom(t *testing.T) {
	leave, entered := make(chan struct{}), make(chan struct{})
	raw, err := listener.Listen(t.Context(), "127.0.0.1:0", "listen")
	if err != nil {
		t.Fatal(err)
	}
	b := listener.NewBound(raw, 1, slog.New(slog.DiscardHandler))
	server := &http.Server{ConnContext: b.Context, ReadHeaderTimeout: waitLimit, Handler: b.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(entered); <-leave }))}
	served := make(chan error)
	go func() { served <- server.Serve(b) }()
	c := dial(t, raw.Addr().String())
	go func() { _ = c.ask("/") }()
	<-entered
	dial(t, raw.Addr().String())
	_ = b.Close()
	<-served
	close(leave)
	_ = server.Close()
}

// Drain waits for whoever was accepted and has not been answered, and gives up
// those who say nothing.
func TestDrainWaitsForWhoWasAccepted(t *testing.T) {
	leave, entered := make(chan struct{}), make(chan struct{})
	b, address := bounded(t, 4, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(entered)
			<-leave
		}
		ok(w, r)
	}))
	late, slow := dial(t, address), dial(t, address)
	answered := make(chan error, 1)
	go func() { answered <- slow.ask("/slow") }()
	<-entered
	awaitOpen(t, b, 2)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	over := make(chan struct{})
	go func() { b.Drain(t.Context(), waitLimit); close(over) }()
	if err := late.ask("/"); err != nil {
		t.Errorf("one that was accepted before: %v", err)
	}
	_ = late.Close()
	select {
	case <-over:
		t.Error("it did not wait for who is at work")
	default:
	}
	close(leave)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	_ = slow.Close()
	<-over
}

func TestDrainGivesTheSilentUp(t *testing.T) {
	b, address := bounded(t, 4, http.HandlerFunc(ok))
	dial(t, address)
	awaitOpen(t, b, 1)
	_ = b.Close()
	b.Drain(t.Context(), time.Millisecond)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	b.Drain(ended, waitLimit)
}

func TestListenSaysWhatToDo(t *testing.T) {
	l, err := listener.Listen(t.Context(), "127.0.0.1:0", "listen")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := listener.Listen(t.Context(), l.Addr().String(), "tls.http_listen"); err == nil || !strings.Contains(err.Error(), "--tls-http-listen HOST:PORT, SLUICE_TLS_HTTP_LISTEN or the key tls.http_listen") {
		t.Errorf("told as %v", err)
	}
}
