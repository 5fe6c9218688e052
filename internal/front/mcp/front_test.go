package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sluice-gateway/sluice/internal/front/mcp"
)

// The eras, by their first version and their last one before it.
const (
	modern = "2026-07-28"
	legacy = "2025-11-25"
)

// ask is one HTTP request to the front.
type ask struct {
	method, path, token, version, session, origin, host, accept, body string
}

func (l *lab) send(ctx context.Context, a ask) (*http.Response, error) {
	method, path, as := a.method, a.path, a.token
	if method == "" {
		method = http.MethodPost
	}
	if path == "" {
		path = "/mcp"
	}
	if as == "" {
		as = token
	}
	r, err := http.NewRequestWithContext(ctx, method, l.url+path, strings.NewReader(a.body))
	if err != nil {
		l.t.Fatal(err)
	}
	r.Header = http.Header{
		"Authorization": {"Bearer " + as}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
	}
	for name, value := range map[string]string{
		"MCP-Protocol-Version": a.version, "Mcp-Session-Id": a.session, "Origin": a.origin, "Accept": a.accept,
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if a.host != "" {
		r.Host = a.host
	}
	var message struct {
		Method string
		Params struct{ Name string }
	}
	if a.version >= modern && json.Unmarshal([]byte(a.body), &message) == nil {
		r.Header.Set("Mcp-Method", message.Method)
		if message.Params.Name != "" {
			r.Header.Set("Mcp-Name", message.Params.Name)
		}
	}
	return http.DefaultClient.Do(r)
}

// do sends a request and reads its whole answer.
func (l *lab) do(a ask) (*http.Response, string) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	answer, err := l.send(ctx, a)
	if err != nil {
		l.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return answer, string(text)
}

// callBody is a tools/call for a version; more are further members of _meta.
func callBody(version, code string, more ...string) string {
	meta := append([]string{}, more...)
	if version >= modern {
		meta = append(meta, `"io.modelcontextprotocol/protocolVersion":"`+version+`"`, `"io.modelcontextprotocol/clientCapabilities":{}`,
			`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}`)
	}
	text, _ := json.Marshal(code) // a text always encodes
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"play","arguments":{"code":%s},"_meta":{%s}}}`, text, strings.Join(meta, ","))
}

// open starts a session of the older protocol.
func (l *lab) open(as string) string {
	l.t.Helper()
	answer, text := l.do(ask{token: as, body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + legacy + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`})
	session := answer.Header.Get("Mcp-Session-Id")
	if answer.StatusCode != http.StatusOK || session == "" {
		l.t.Fatalf("initialize: %s %s", answer.Status, text)
	}
	l.do(ask{token: as, session: session, version: legacy, body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`})
	return session
}

// ofEra is a request of an era, with the session that it needs.
func (l *lab) ofEra(version string) ask {
	if version >= modern {
		return ask{version: version}
	}
	return ask{version: version, session: l.open(token)}
}

// connect is the SDK's own client.
func (l *lab) connect(t *testing.T, as string) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	s, err := client.Connect(context.Background(), &sdk.StreamableClientTransport{
		Endpoint: l.url + "/mcp", HTTPClient: &http.Client{Transport: withToken{as}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func call(t *testing.T, s *sdk.ClientSession, code string) *sdk.CallToolResult {
	t.Helper()
	res, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: "play", Arguments: map[string]any{"code": code}})
	if err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	return res
}

func textOf(res *sdk.CallToolResult) string {
	if len(res.Content) == 0 {
		return ""
	}
	text, ok := res.Content[0].(*sdk.TextContent)
	if !ok {
		return ""
	}
	return text.Text
}

// TestResults: the text is the output; what went wrong with a program or for want
// of room is a result that a model can act on, whose structured content is what
// the tool's schema says.
func TestResults(t *testing.T) {
	l := newLab(t)
	s := l.connect(t, token)
	list, err := s.ListTools(context.Background(), nil)
	if err != nil || len(list.Tools) != 2 {
		t.Fatalf("%d tools, %v", len(list.Tools), err)
	}
	schema := compiled(t, list.Tools[1].OutputSchema)
	for _, row := range []struct {
		code, text string
		failed     bool
	}{
		{"say hello", "hello", false}, {"nothing", "None", false}, {"", "code is empty", true}, {"say forbidden", "a forbidden word (word)\n  hint: say another", true},
		{"late", "timed out after 2s", true}, {"busy", "busy: the executor has no room (retry in 1 s)", true},
	} {
		res := call(t, s, row.code)
		if !strings.HasSuffix(textOf(res), row.text) || res.IsError != row.failed {
			t.Errorf("%q: %q, isError %v", row.code, textOf(res), res.IsError)
		}
		if err := schema.Validate(res.StructuredContent); err != nil {
			t.Errorf("%q: %v", row.code, err)
		}
		if out, _ := res.StructuredContent.(map[string]any); out["output"] != textOf(res) || out["ok"] != !row.failed {
			t.Errorf("%q: structured content says %v", row.code, out)
		}
	}
	if _, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: "nosuch"}); err == nil {
		t.Error("an unknown tool is no error of the protocol")
	}
}

func compiled(t *testing.T, schema any) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("answer.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("answer.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// TestProducts: figures are resources, other products are what their type says.
func TestProducts(t *testing.T) {
	res := call(t, newLab(t).connect(t, token), "draw")
	var got []string
	for _, c := range res.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			got = append(got, "text "+c.Text)
		case *sdk.ImageContent:
			got = append(got, "image "+c.MIMEType)
		case *sdk.AudioContent:
			got = append(got, "audio "+c.MIMEType)
		case *sdk.EmbeddedResource:
			got = append(got, fmt.Sprintf("resource %s %q %d", c.Resource.MIMEType, c.Resource.Text, len(c.Resource.Blob)))
		}
	}
	want := `text None, resource application/vnd.plotly.v1+json "{\"data\":[]}" 0, image image/png, audio audio/wav, resource text/csv "a,b" 0, resource application/zip "" 1`
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

// TestJournal: a call is written down under the id that its caller gave, as what
// it is, and under the trace of the message when the header has none.
func TestJournal(t *testing.T) {
	l := newLab(t)
	const trace = "0af7651916cd43dd8448eb211c80319c"
	for _, version := range []string{modern, legacy} {
		a := l.ofEra(version)
		a.body = callBody(version, "say x", `"traceparent":"00-`+trace+`-b7ad6b7169203331-01"`)
		answer, text := l.do(a)
		e := l.last()
		if e.RequestID != answer.Header.Get("X-Request-Id") || e.Caller != "all" || e.Route != "tools" || e.Tool != "play" || !strings.Contains(text, `"request_id":"`+e.RequestID) {
			t.Errorf("%s: %+v", version, e)
		}
		if !strings.Contains(e.Traceparent, trace) || strings.Contains(e.Traceparent, "b7ad6b7169203331") {
			t.Errorf("%s: trace %q", version, e.Traceparent)
		}
	}
}

// TestLargeFigures: a large figure is sent once.
func TestLargeFigures(t *testing.T) {
	res := call(t, newLab(t).connect(t, token), "paint")
	structured, _ := res.StructuredContent.(map[string]any)
	drawn, ok := res.Content[1].(*sdk.EmbeddedResource)
	if !ok || len(drawn.Resource.Text) < 100<<10 || fmt.Sprint(structured["figures"]) != fmt.Sprintf("[map[resource:%s]]", drawn.Resource.URI) {
		t.Errorf("%v, %v", ok, structured["figures"])
	}
}

// TestEarlyBytes: a cell that is silent does not leave its connection silent, in
// both eras.
func TestEarlyBytes(t *testing.T) {
	l := newLab(t, func(c *mcp.Config) { c.Times.Early, c.Times.KeepAlive = 5*time.Millisecond, 5*time.Millisecond })
	for _, version := range []string{modern, legacy} {
		a := l.ofEra(version)
		a.body = callBody(version, "hold")
		answer, err := l.send(context.Background(), a) // the header is there while the cell runs
		if err != nil {
			t.Fatal(err)
		}
		l.await("the cell's start", l.started)
		lines := bufio.NewScanner(answer.Body)
		for alive := 0; alive < 2 && lines.Scan(); {
			if lines.Text() == ": keep-alive" {
				alive++
			}
		}
		l.release <- struct{}{}
		var last string
		for lines.Scan() {
			if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
				last = data
			}
		}
		_ = answer.Body.Close()
		if answer.Header.Get("X-Accel-Buffering") != "no" || !strings.Contains(last, `"isError"`) && !strings.Contains(last, `"ok":true`) {
			t.Errorf("%s: %v %s", version, answer.Header, last)
		}
	}
}

// TestProgress: a client that asks for it is told what a cell prints, and that it
// still runs; numbers rise, and nothing comes after the result.
func TestProgress(t *testing.T) {
	l := newLab(t, func(c *mcp.Config) { c.Times.Progress = 10 * time.Millisecond })
	for _, version := range []string{modern, legacy} {
		a := l.ofEra(version)
		a.body = callBody(version, "hold first\nsecond \x1b[2Jline", `"progressToken":"p"`)
		answer, err := l.send(context.Background(), a)
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		last := 0.0
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			data, is := strings.CutPrefix(lines.Text(), "data: ")
			if !is {
				continue
			}
			var m struct {
				Result any
				Params struct {
					Progress float64
					Message  string
				}
			}
			if err := json.Unmarshal([]byte(data), &m); err != nil {
				t.Fatal(err)
			}
			if m.Result != nil {
				said = append(said, "result")
				continue
			}
			if m.Params.Progress <= last {
				t.Errorf("%s: progress %v after %v", version, m.Params.Progress, last)
			}
			last = m.Params.Progress
			said = append(said, m.Params.Message)
			if strings.HasPrefix(m.Params.Message, "running for ") {
				select {
				case l.release <- struct{}{}:
				default:
				}
			}
		}
		_ = answer.Body.Close()
		l.await("the cell's start", l.started)
		all := strings.Join(said, "|")
		if !strings.Contains(all, "|running for ") || !strings.Contains(all, "second [2Jline") || !strings.HasSuffix(all, "|result") {
			t.Errorf("%s: %s", version, all)
		}
	}
}

// TestWhoIsLetIn: the credentials come first, then the scope, the origin, the
// message; each error has the gateway's form.
func TestWhoIsLetIn(t *testing.T) {
	l := newLab(t)
	body := callBody(modern, "say x")
	for _, row := range []struct {
		name   string
		ask    ask
		status int
		text   string
	}{
		{"a wrong token", ask{token: "wrong", version: modern, body: body}, 401, "a valid token"},
		{"no scope", ask{token: solveOnly, version: modern, body: body}, 403, "scope tools"},
		{"another origin", ask{version: modern, origin: "http://evil.example", body: body}, 403, "another origin"},
		{"a name that leads here", ask{version: modern, origin: "http://evil.example", host: "evil.example", body: body}, 403, "another origin"},
		{"a page of another origin opens a stream", ask{method: http.MethodGet, path: "/sse", origin: "http://evil.example"}, 403, "another origin"},
		{"our own origin", ask{version: modern, origin: l.url, body: body}, 200, `"isError"`},
		{"a proxy's name", ask{version: modern, host: "sluice.example", body: body}, 200, ""},
		{"no JSON", ask{version: modern, body: "{"}, 400, "-32700"},
		{"a key twice", ask{version: modern, body: strings.Replace(body, `"id":7`, `"id":7,"id":7`, 1)}, 400, "-32700"},
		{"too large for a message", ask{version: modern, body: callBody(modern, strings.Repeat("x", 140<<10))}, 413, "at most 128 KiB"},
		{"too large for a body", ask{version: modern, body: callBody(modern, strings.Repeat("x", 300<<10))}, 413, `"id":null,"error":{"code":-32600,"message":"body is too large`},
		{"a version that never was", ask{version: "1900-01-01", body: body}, 400, `"requested":"1900-01-01"`},
		{"a version to come", ask{version: "2999-01-01", body: body}, 400, "-32022"},
		{"an unknown session", ask{version: legacy, session: "nosuch", body: callBody(legacy, "say x")}, 404, "session not found"},
		{"another method", ask{method: http.MethodPut, version: modern}, 405, "POST, GET, DELETE"},
		{"nothing accepted", ask{version: modern, accept: "image/png", body: body}, 400, "Accept"},
	} {
		answer, text := l.do(row.ask)
		if answer.StatusCode != row.status || row.status != 200 && !strings.Contains(text, row.text) {
			t.Errorf("%s: %s %s", row.name, answer.Status, text)
		}
		if row.status >= 400 && (!strings.Contains(text, `"request_id":"`) || !strings.Contains(text, `"jsonrpc":"2.0"`) || answer.Header.Get("Content-Type") != "application/json") {
			t.Errorf("%s: not an error of ours: %s %s", row.name, answer.Header.Get("Content-Type"), text)
		}
		challenge := answer.Header.Get("WWW-Authenticate")
		if (row.status == 401 && challenge != "Bearer") || (row.name == "no scope" && !strings.Contains(challenge, `insufficient_scope", scope="tools"`)) {
			t.Errorf("%s: WWW-Authenticate %q", row.name, challenge)
		}
	}
}

// TestSessionsAreBounded: a token has as many sessions of the older protocol as it
// may, another token its own, and one that ends makes room.
func TestSessionsAreBounded(t *testing.T) {
	l := newLab(t, func(c *mcp.Config) { c.Limits.Sessions = 2 })
	first := l.open(token)
	l.open(token)
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + legacy + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	if answer, text := l.do(ask{body: hello}); answer.StatusCode != http.StatusTooManyRequests || !strings.Contains(text, "as many sessions") {
		t.Errorf("a third session: %s %s", answer.Status, text)
	}
	l.open(otherToken)
	if answer, text := l.do(ask{token: otherToken, version: legacy, session: first, body: callBody(legacy, "say x")}); answer.StatusCode != http.StatusForbidden {
		t.Errorf("another caller in a session: %s %s", answer.Status, text)
	}
	if answer, text := l.do(ask{method: http.MethodDelete, version: legacy, session: first}); answer.StatusCode != http.StatusNoContent {
		t.Errorf("the end of a session: %s %s", answer.Status, text)
	}
	l.open(token)
}

// TestLeave: a stop does not wait for streams on which nothing runs, and lets a
// call end.
func TestLeave(t *testing.T) {
	l := newLab(t)
	session := l.open(token)
	idle, err := l.send(context.Background(), ask{method: http.MethodGet, version: legacy, session: session})
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Body.Close()
	result := make(chan string, 1)
	go func() {
		_, text := l.do(ask{version: modern, body: callBody(modern, "hold on")})
		result <- text
	}()
	l.await("the cell's start", l.started)
	l.front.Leave()
	if _, err := io.Copy(io.Discard, idle.Body); err != nil {
		t.Errorf("the idle stream: %v", err)
	}
	l.release <- struct{}{}
	if text := <-result; !strings.Contains(text, `"ok":true`) {
		t.Errorf("the call that ran: %s", text)
	}
}
