package rest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"sync/atomic"

	json "github.com/go-json-experiment/json"
)

// Listener makes the answers that net/http gives by itself, to what it cannot
// read as a request, look like all others: a caller tells by the JSON body that
// the answer came from here. It is for plain HTTP; a TLS listener goes inside.
func Listener(l net.Listener, newID func() string) net.Listener {
	return &listener{Listener: l, newID: orRandom(newID)}
}

type listener struct {
	net.Listener
	newID func() string
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, newID: l.newID}, nil
}

// conn knows whether a handler is at work. Only between requests can an answer
// be net/http's own; a handler's must pass untouched whatever its bytes are.
type conn struct {
	net.Conn
	newID func() string
	phase atomic.Int32
}

// The phases of a connection: a request is awaited; a handler is at work; it is
// done, and its answer may still be in net/http's buffer. The next Read begins
// the first again.
const (
	phaseIdle int32 = iota
	phaseBusy
	phaseFlush
)

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	c.phase.CompareAndSwap(phaseFlush, phaseIdle)
	return c.Conn.Read(p)
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	if c.phase.Load() != phaseIdle {
		return c.Conn.Write(p)
	}
	status, own := ownAnswer(p)
	if !own {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(unreadable(status, c.newID())); err != nil {
		return 0, err
	}
	return len(p), nil
}

// NetConn is the connection inside.
func (c *conn) NetConn() net.Conn { return c.Conn }

// CloseWrite lets net/http close politely.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

var statusLine = regexp.MustCompile(`^HTTP/1\.1 ([45][0-9]{2}) [^\r\n]*\r\n`)

func ownAnswer(p []byte) (status int, own bool) {
	match := statusLine.FindSubmatch(p)
	if match == nil || bytes.Contains(p, []byte("\r\nX-Request-Id: ")) {
		return 0, false
	}
	status, err := strconv.Atoi(string(match[1]))
	return status, err == nil
}

// unreadable is the answer to what net/http could not read.
func unreadable(status int, id string) []byte {
	title := http.StatusText(status)
	body, err := json.Marshal(problem{Detail: "the request cannot be read: " + title, RequestID: id, Status: status, Title: title})
	if err != nil {
		body = []byte("{}")
	}
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\nX-Request-Id: %s\r\n\r\n%s",
		status, title, len(body), id, body)
}

type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// enter tells the request's connection which phase begins.
func enter(r *http.Request, phase int32) {
	if c, ok := r.Context().Value(connKey{}).(*conn); ok {
		c.phase.Store(phase)
	}
}
