package listener

import (
	"container/list"
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Bound is a listener with at most so many connections at once.
//
// One more is never refused: the connection that has been without a request for
// longest is closed for it, those that never had one first. Who opens
// connections and sends nothing, or a head byte by byte, so pushes out his own;
// a caller whose request arrives at once is in nobody's way. When every
// connection has a request at work the next waits in the kernel.
type Bound struct {
	net.Listener
	max int
	log *slog.Logger

	mu     sync.Mutex
	change *sync.Cond // a connection ended, or came to rest
	open   int
	fresh  *list.List // of *conn, the oldest first: no request so far
	rested *list.List // of *conn, the longest at rest first
	closed bool
	// between counts calls of Accept: what they may have taken from the kernel
	// is in no list yet.
	between int
	pushed  int       // closed for others since it was told
	told    time.Time // when
}

// NewBound bounds l. log is told, once a minute at most, that connections had to
// go.
func NewBound(l net.Listener, limit int, log *slog.Logger) *Bound {
	b := &Bound{Listener: l, max: limit, log: log, fresh: list.New(), rested: list.New()}
	b.change = sync.NewCond(&b.mu)
	return b
}

// Accept implements net.Listener.
func (b *Bound) Accept() (net.Conn, error) {
	b.accepting(1)
	raw, err := b.Listener.Accept()
	if err != nil {
		b.accepting(-1)
		return nil, err
	}
	b.mu.Lock()
	var out *conn
	for b.open >= b.max && out == nil && !b.closed {
		if out = b.longest(); out == nil {
			b.change.Wait()
		}
	}
	c := &conn{Conn: raw, of: b, since: time.Now()}
	c.at, c.in = b.fresh.PushBack(c), b.fresh
	b.open++
	b.between--
	b.mu.Unlock()
	if out != nil {
		_ = out.Close() // it had nothing to say
		b.tell()
	}
	return c, nil
}

func (b *Bound) accepting(more int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.between += more
}

// longest takes the connection that has been without a request for longest out
// of its list; nil: all have one at work.
func (b *Bound) longest() *conn {
	for _, from := range []*list.List{b.fresh, b.rested} {
		if first := from.Front(); first != nil {
			c := first.Value.(*conn) //nolint:forcetypeassert // nothing else is in the lists
			c.leave()
			return c
		}
	}
	return nil
}

const tellEvery = time.Minute

func (b *Bound) tell() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pushed++
	if time.Since(b.told) < tellEvery {
		return
	}
	b.log.Warn("connections are at their limit: those longest without a request are closed", "limit", b.max, "closed", b.pushed)
	b.told, b.pushed = time.Now(), 0
}

// Close implements net.Listener. It may be called more than once.
func (b *Bound) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	b.change.Broadcast()
	return b.Listener.Close()
}

const drainPoll = 5 * time.Millisecond

// Drain waits, after Close, until every connection that was accepted has had its
// answer, or ctx ends. One that has been
// without a request for grace is given up.
//
// It comes before http.Server.Shutdown, which drops requests that are read
// after it was called.
func (b *Bound) Drain(ctx context.Context, grace time.Duration) {
	tick := time.NewTicker(drainPoll)
	defer tick.Stop()
	for !b.drained(grace) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (b *Bound) drained(grace time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.between > 0 || b.open > b.fresh.Len()+b.rested.Len() {
		return false
	}
	for _, l := range []*list.List{b.fresh, b.rested} {
		newest := l.Back()
		if newest == nil {
			continue
		}
		if c := newest.Value.(*conn); time.Since(c.since) <= grace { //nolint:forcetypeassert // nothing else is in the lists
			return false // its request may be on its way
		}
	}
	return true
}

// Open is how many connections there are.
func (b *Bound) Open() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open
}

type connKey struct{}

// Context is for http.Server.ConnContext: it lets Handler know which connection
// a request came by. c is of this listener, perhaps inside others that have a
// method NetConn() net.Conn.
func (*Bound) Context(ctx context.Context, c net.Conn) context.Context {
	for {
		switch at := c.(type) {
		case *conn:
			return context.WithValue(ctx, connKey{}, at)
		case interface{ NetConn() net.Conn }:
			c = at.NetConn()
		default:
			return ctx
		}
	}
}

// Handler spares a connection while its request is at work.
func (*Bound) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(*conn); ok {
			c.work()
			defer c.done()
		}
		next.ServeHTTP(w, r)
	})
}

// conn is one connection. Its list is guarded by the listener's lock.
type conn struct {
	net.Conn
	of   *Bound
	at   *list.Element
	in   *list.List // nil: a request is at work, or it is closed
	gone bool

	since    time.Time // when it was accepted, or came to rest
	flushing atomic.Bool
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

// Close implements net.Conn.
func (c *conn) Close() error {
	c.of.mu.Lock()
	if !c.gone {
		c.gone = true
		c.leave()
		c.of.open--
		c.of.change.Broadcast()
	}
	c.of.mu.Unlock()
	return c.Conn.Close()
}

func (c *conn) leave() {
	if c.in != nil {
		c.in.Remove(c.at)
		c.in = nil
	}
}

func (c *conn) work() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.leave()
}

// done says that the handler has returned. Its answer may still be on its way
// out: the connection is at rest when net/http reads from it again.
func (c *conn) done() { c.flushing.Store(true) }

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	if c.flushing.CompareAndSwap(true, false) {
		c.rest()
	}
	return c.Conn.Read(p)
}

func (c *conn) rest() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if !c.gone {
		c.at, c.in, c.since = c.of.rested.PushBack(c), c.of.rested, time.Now()
		c.of.change.Broadcast()
	}
}
