package mcp_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestHangUp: in both eras, and on the oldest transport, a cell whose caller
// hangs up is ended.
func TestHangUp(t *testing.T) {
	l := newLab(t)
	for _, version := range []string{modern, legacy} {
		a := l.ofEra(version)
		a.body = callBody(version, "wait")
		l.hangUp(t, version, a)
	}
}

func (l *lab) hangUp(t *testing.T, version string, a ask) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		answer, err := l.send(ctx, a)
		if err == nil {
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
		}
	}()
	l.await(version+": the cell's start", l.started)
	cut := time.Now()
	cancel()
	l.await(version+": the cell's end", l.ended)
	t.Logf("%s: ended %s after the connection was closed", version, time.Since(cut).Round(time.Millisecond))
	<-done
}

// TestHangUpOfSSE: the open stream of the oldest transport is what is hung up.
func TestHangUpOfSSE(t *testing.T) {
	l := newLab(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	s, err := client.Connect(ctx, &sdk.SSEClientTransport{Endpoint: l.url + "/sse", HTTPClient: &http.Client{Transport: withToken{token}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := textOf(call(t, s, "say hello")); got != "hello" {
		t.Errorf("over /sse: %q", got)
	}
	_ = s.Close()
	stream, endpoint := l.openSSE(ctx)
	defer stream.Body.Close()
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, callBody("2024-11-05", "wait"),
	} {
		if answer, text := l.do(ask{path: endpoint, body: message}); answer.StatusCode != http.StatusAccepted {
			t.Fatalf("%s: %s %s", message, answer.Status, text)
		}
	}
	l.await("the cell's start", l.started)
	cancel()
	l.await("the cell's end", l.ended)
}

// openSSE opens a stream of the oldest transport and finds where to post.
func (l *lab) openSSE(ctx context.Context) (stream *http.Response, endpoint string) {
	l.t.Helper()
	stream, err := l.send(ctx, ask{method: http.MethodGet, path: "/sse"})
	if err != nil {
		l.t.Fatal(err)
	}
	for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
		if at, is := strings.CutPrefix(lines.Text(), "data: "); is {
			return stream, at
		}
	}
	l.t.Fatal("the stream does not say where to post")
	return nil, ""
}

// TestSSEIsItsOwners: the stream of one caller takes no messages of another.
func TestSSEIsItsOwners(t *testing.T) {
	l := newLab(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream, endpoint := l.openSSE(ctx)
	defer stream.Body.Close()
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	if answer, text := l.do(ask{path: endpoint, token: otherToken, body: ping}); answer.StatusCode != http.StatusNotFound || !strings.Contains(text, `"request_id"`) {
		t.Errorf("another caller's message: %s %s", answer.Status, text)
	}
	if answer, text := l.do(ask{path: endpoint, body: ping}); answer.StatusCode != http.StatusAccepted {
		t.Errorf("the owner's message: %s %s", answer.Status, text)
	}
}
