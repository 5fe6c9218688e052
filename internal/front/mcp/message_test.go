package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/internal/front/mcp"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + legacy + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// TestMessages: members of JSON-RPC are spelt one way, an id comes back as it was
// sent or not at all, and every error has a code and says what to do.
func TestMessages(t *testing.T) {
	l := newLab(t)
	session := l.open(token)
	for _, row := range []struct {
		name   string
		ask    ask
		status int
		text   string
	}{
		{"METHOD", ask{version: legacy, session: session, body: `{"jsonrpc":"2.0","id":7,"METHOD":"tools/list"}`}, 400, `"id":7,"error":{"code":-32600,"message":"the message has neither method`},
		{"METHOD of the newer protocol", ask{version: modern, body: strings.Replace(callBody(modern, "say x"), `"method"`, `"Method"`, 1)}, 400, `"id":7,"error":{"code":-32600`},
		{"METHOD in a batch", ask{version: "2025-03-26", session: session, body: `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":7,"METHOD":"ping"}]`}, 400, "message 2 of the batch"},
		{"ID", ask{version: legacy, session: session, body: `{"jsonrpc":"2.0","ID":7,"method":"tools/list"}`}, 400, "missing id"},
		{"an answer", ask{version: legacy, session: session, body: `{"jsonrpc":"2.0","id":7,"result":{}}`}, 202, ""},
		{"an id that readers round", ask{version: legacy, session: session, body: `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`}, 400, "id must be"},
		{"half an id", ask{version: legacy, session: session, body: `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`}, 400, "id must be"},
		{"the largest id", ask{version: legacy, session: session, body: `{"jsonrpc":"2.0","id":9007199254740991,"method":"ping"}`}, 200, `"id":9007199254740991,"result"`},
		{"no session", ask{version: legacy, body: `{"jsonrpc":"2.0","id":"a","method":"tools/list"}`}, 400, `"id":"a","error":{"code":-32600,"message":"the request names no session: send initialize`},
		{"no session, no version", ask{body: `{"jsonrpc":"2.0","id":"a","method":"tools/list"}`}, 400, "send initialize"},
		{"no session for a notification", ask{version: legacy, body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`}, 400, "send initialize"},
		{"no session for a ping", ask{version: legacy, body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`}, 200, `"result"`},
		{"initialize without params", ask{body: strings.Replace(initialize, `{"protocolVersion`, `null,"x":{"protocolVersion`, 1)}, 200, `"code":-32600`},
	} {
		answer, text := l.do(row.ask)
		if answer.StatusCode != row.status || !strings.Contains(text, row.text) || strings.Contains(text, `"code":0`) {
			t.Errorf("%s: %s %s", row.name, answer.Status, text)
		}
	}
}

// TestMessagesOfSSE: the same on the oldest transport, where answers come on the
// open stream.
func TestMessagesOfSSE(t *testing.T) {
	l := newLab(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream, endpoint := l.openSSE(ctx)
	defer stream.Body.Close()
	if answer, text := l.do(ask{path: endpoint, body: `{"jsonrpc":"2.0","id":7,"METHOD":"ping"}`}); answer.StatusCode != http.StatusBadRequest || !strings.Contains(text, `"code":-32600`) {
		t.Errorf("METHOD: %s %s", answer.Status, text)
	}
	l.do(ask{path: endpoint, body: `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`})
	if got := event(t, stream.Body); !strings.Contains(got, `"error":{"code":-32600,"message":"method \"tools/list\" is invalid during session initialization: send initialize first"`) {
		t.Errorf("before initialize: %s", got)
	}
}

// event is the data of the next message on a stream.
func event(t *testing.T, from io.Reader) string {
	t.Helper()
	var text []byte
	for one := make([]byte, 1); ; {
		if _, err := io.ReadFull(from, one); err != nil {
			t.Fatalf("the stream ended after %q: %v", text, err)
		}
		if text = append(text, one...); !bytes.HasSuffix(text, []byte("\n\n")) {
			continue
		}
		if _, data, is := strings.Cut(string(text), "data: "); is {
			return data
		}
		text = nil
	}
}

// TestMessagesOfStdio: what comes before initialize has a code there too, and a
// result that looks like such an error stays as it is.
func TestMessagesOfStdio(t *testing.T) {
	l := newLab(t)
	out := &page{}
	by := gateway.Request{ID: "stdio", Caller: gateway.Caller{Name: "mcp", Scopes: []string{mcp.Scope}}}
	if err := l.front.Stdio(context.Background(), io.NopCloser(strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`+"\n")), out, by); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, `"id":7,"error":{"code":-32600,`) || !json.Valid([]byte(got)) {
		t.Errorf("before initialize: %s", got)
	}
}

// TestProgressTokens: one that the protocol allows comes back as it was sent, any
// other is refused before the program runs.
func TestProgressTokens(t *testing.T) {
	l := newLab(t)
	told := regexp.MustCompile(`"progressToken":([^,}]*)`)
	for _, version := range []string{modern, legacy} {
		a := l.ofEra(version)
		for sent, back := range map[string]string{
			`"p"`: `"p"`, `""`: `""`, `5`: `5`, `-3`: `-3`, `9007199254740991`: `9007199254740991`, `"5"`: `"5"`, `null`: ``,
		} {
			a.body = callBody(version, "say x", `"progressToken":`+sent)
			answer, text := l.do(a)
			got := ""
			if m := told.FindStringSubmatch(text); m != nil {
				got = m[1]
			}
			if answer.StatusCode != http.StatusOK || got != back || !strings.Contains(text, `"ok":true`) {
				t.Errorf("%s: the token %s came back as %q: %s %s", version, sent, got, answer.Status, text)
			}
		}
		for _, sent := range []string{`{"a":1}`, `[1]`, `true`, `1.5`, `9007199254740993`, `1e300`, `-9007199254740992`} {
			before := l.count()
			a.body = callBody(version, "say x", `"progressToken":`+sent)
			_, text := l.do(a)
			if !strings.Contains(text, `"error":{"code":-32602,"message":"params._meta.progressToken must be`) || told.MatchString(text) || l.count() != before {
				t.Errorf("%s: the token %s: %s", version, sent, text)
			}
		}
	}
}

// TestRevokedTokens: streams on which nothing runs end when their token is taken
// out of force; a call that runs is finished, and others' streams stay.
func TestRevokedTokens(t *testing.T) {
	l := newLab(t, func(c *mcp.Config) { c.Times.KeepAlive = patience / 3000 })
	listen := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":%q,`+
		`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}`, modern)
	ctx, cancel := context.WithTimeout(t.Context(), patience) // what does not end is a fault, not a hang
	defer cancel()
	open := func(as string) (streams []*http.Response) {
		for _, a := range []ask{
			{method: http.MethodGet, version: legacy, session: l.open(as)}, {method: http.MethodGet, path: "/sse"}, {version: modern, body: listen},
		} {
			a.token = as
			answer, err := l.send(ctx, a)
			if err != nil {
				t.Fatal(err)
			}
			if t.Cleanup(func() { _ = answer.Body.Close() }); answer.StatusCode != http.StatusOK {
				t.Fatalf("%+v: %s", a, answer.Status)
			}
			streams = append(streams, answer)
		}
		return streams
	}
	revoked, kept := open(otherToken), open(token)
	result := make(chan string, 1)
	go func() {
		_, text := l.do(ask{token: otherToken, version: modern, body: callBody(modern, "hold on")})
		result <- text
	}()
	l.await("the cell's start", l.started)
	l.reload(allTokens()[:1])
	for i, stream := range revoked {
		if _, err := io.Copy(io.Discard, stream.Body); err != nil {
			t.Errorf("stream %d: %v", i, err)
		}
	}
	l.release <- struct{}{}
	if text := <-result; !strings.Contains(text, `"ok":true`) {
		t.Errorf("the call that ran: %s", text)
	}
	for i, stream := range kept {
		if _, err := io.ReadFull(stream.Body, make([]byte, 200)); err != nil { // comments that keep it alive
			t.Errorf("another token's stream %d: %v", i, err)
		}
	}
}

// TestASSEStreamKnowsItsToken: a call on the oldest transport is made with what
// the token may do now, not when the stream was opened.
func TestASSEStreamKnowsItsToken(t *testing.T) {
	l := newLab(t)
	stream, endpoint := l.openSSE(t.Context())
	defer stream.Body.Close()
	changed := allTokens()
	changed[0].Profile = "stricter"
	l.reload(changed)
	for _, body := range []string{strings.Replace(initialize, legacy, "2024-11-05", 1), callBody("2024-11-05", "say x")} {
		l.do(ask{path: endpoint, body: body})
		event(t, stream.Body)
	}
	if got := l.last().Decision.Profile; got != "stricter" {
		t.Errorf("the call was judged by the profile %q", got)
	}
}
