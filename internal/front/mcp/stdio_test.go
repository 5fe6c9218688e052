package mcp_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/sluice-gateway/sluice/internal/front/mcp"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// page is a stream of output that several goroutines write.
type page struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *page) Close() error { return nil }

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// script is what a client writes that then closes its end at once.
func script(version string) string {
	if version >= modern {
		return strings.ReplaceAll(callBody(version, "say hello"), "\n", "") + "\n"
	}
	return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + callBody(version, "say hello") + "\n"
}

// TestStdio: a client that writes its calls and closes its end gets its answers,
// in both eras, from the pipeline here and from one that runs elsewhere.
func TestStdio(t *testing.T) {
	l := newLab(t)
	by := gateway.Request{ID: "stdio", Caller: gateway.Caller{Name: "mcp", Scopes: []string{mcp.Scope}}}
	for _, version := range []string{modern, legacy} {
		for name, serve := range map[string]func(in io.ReadCloser, out io.WriteCloser) error{
			"here": func(in io.ReadCloser, out io.WriteCloser) error {
				return l.front.Stdio(context.Background(), in, out, by)
			},
			"elsewhere": func(in io.ReadCloser, out io.WriteCloser) error {
				return mcp.Bridge(context.Background(), in, out, mcp.Remote{URL: l.url + "/mcp", Client: &http.Client{}, Token: token})
			},
		} {
			out := &page{}
			if err := serve(io.NopCloser(strings.NewReader(script(version))), out); err != nil {
				t.Errorf("%s, %s: %v", version, name, err)
			}
			if text := out.String(); !strings.Contains(text, `"text":"hello"`) {
				t.Errorf("%s, %s: %s", version, name, text)
			}
		}
	}
}

// TestBridgeWithAWrongToken: the client is not left to wait.
func TestBridgeWithAWrongToken(t *testing.T) {
	l := newLab(t)
	out := &page{}
	err := mcp.Bridge(context.Background(), io.NopCloser(strings.NewReader(script(legacy))), out, mcp.Remote{URL: l.url + "/mcp", Client: &http.Client{}, Token: "wrong"})
	if err == nil || strings.Contains(err.Error(), "wrong") {
		t.Errorf("%v, %s", err, out)
	}
}

// TestStdioEnds: the end of the process's time ends a cell that runs.
func TestStdioEnds(t *testing.T) {
	l := newLab(t)
	ctx, cancel := context.WithCancel(context.Background())
	in, client := io.Pipe()
	defer client.Close()
	ended := make(chan error, 1)
	go func() {
		ended <- l.front.Stdio(ctx, in, &page{}, gateway.Request{ID: "stdio", Caller: gateway.Caller{Name: "mcp", Scopes: []string{mcp.Scope}}})
	}()
	if _, err := io.WriteString(client, callBody(modern, "wait")+"\n"); err != nil {
		t.Fatal(err)
	}
	l.await("the cell's start", l.started)
	cancel()
	l.await("the cell's end", l.ended)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
