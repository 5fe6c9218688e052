package mcp

import (
	"bytes"
	"context"
	"io"
	"sync"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lines are the two streams of a client, one message a line. The end of the
// client's messages is handed on when what they asked for is answered: a script
// that writes its calls and closes the pipe gets its answers.
type lines struct {
	ctx context.Context
	in  io.ReadCloser
	out io.WriteCloser

	mu      sync.Mutex
	partial []byte // of a line that is being read
	waiting int
	change  chan struct{}
}

func newLines(ctx context.Context, in io.ReadCloser, out io.WriteCloser) *lines {
	return &lines{ctx: ctx, in: in, out: out, change: make(chan struct{}, 1)}
}

// mostPartial bounds what is kept of a line: longer ones are not taken anyway.
const mostPartial = 16 << 20

// reader and writer are the two ends as the protocol's library wants them.
type (
	reader struct{ *lines }
	writer struct{ *lines }
)

// Read implements io.Reader.
func (r reader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	r.seen(p[:n])
	if err == io.EOF {
		r.answered()
	}
	return n, err
}

// Close implements io.Closer.
func (r reader) Close() error { return r.in.Close() }

// Write implements io.Writer; each call is a message.
func (w writer) Write(p []byte) (int, error) {
	_, err := w.out.Write(coded(p))
	if _, answers := kindOf(p); answers {
		w.count(-1)
	}
	return len(p), err
}

// Close implements io.Closer.
func (w writer) Close() error { return w.out.Close() }

// seen counts the requests among the lines that were read.
func (l *lines) seen(chunk []byte) {
	for {
		line, rest, whole := bytes.Cut(chunk, []byte{'\n'})
		if len(l.partial)+len(line) <= mostPartial {
			l.partial = append(l.partial, line...)
		}
		if !whole {
			return
		}
		if asks, _ := kindOf(l.partial); asks {
			l.count(1)
		}
		l.partial, chunk = l.partial[:0], rest
	}
}

// kindOf says whether a message is a request that wants an answer, or an answer.
func kindOf(message []byte) (asks, answers bool) {
	var m struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
	}
	if json.Unmarshal(message, &m, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return false, false
	}
	named := m.ID != nil && m.ID.Kind() != 'n'
	return named && m.Method != "", named && m.Method == ""
}

func (l *lines) count(by int) {
	l.mu.Lock()
	l.waiting += by
	l.mu.Unlock()
	select {
	case l.change <- struct{}{}:
	default:
	}
}

// answered waits until nothing is left to be answered, or ctx ends.
func (l *lines) answered() {
	for {
		l.mu.Lock()
		left := l.waiting
		l.mu.Unlock()
		if left <= 0 {
			return
		}
		select {
		case <-l.change:
		case <-l.ctx.Done():
			return
		}
	}
}
