package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestAgents is what docs/agents.md promises, against a gateway that serves.
func TestAgents(t *testing.T) {
	g := startGateway(t, "--admin-listen", "")
	t.Run("loop", func(t *testing.T) { agentLoop(t, g.url) })
	t.Run("docs", func(t *testing.T) { agentDocs(t, g.url) })
	t.Run("hang up", func(t *testing.T) { hangUpOverMCP(t, g.url) })
}

// agentLoop runs the example: three calls, of which the second is refused, and the
// answer that follows from what the first one left.
func agentLoop(t *testing.T, url string) {
	root := repository(t)
	cmd := exec.Command(filepath.Join(root, ".venv", "bin", "python"), "-B", filepath.Join(root, "examples", "agent-loop", "agent.py"))
	cmd.Env = append(os.Environ(), "GATEWAY_URL="+url, "GATEWAY_TOKEN="+testToken)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	at := 0
	for _, want := range []string{
		"call 1: ", "ok: 147573952589676412927", "call 2: ", "refused or failed: refused by the policy", "hint: ", "call 3: ", "ok: [{193707721: 1, 761838257287: 1}, True]",
		"answer: 2**67 - 1 = 193707721 * 761838257287",
	} {
		next := strings.Index(string(out[at:]), want)
		if next < 0 {
			t.Fatalf("%q does not follow:\n%s", want, out)
		}
		at += next
	}
	if strings.Contains(string(out), "call 4") {
		t.Errorf("it took more than three calls:\n%s", out)
	}
}

// agentDocs reads what docs/agents.md says for clients, and runs its commands.
func agentDocs(t *testing.T, url string) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".token"), []byte(testToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	configurations, commands := 0, 0
	document := blocks(t, "docs/agents.md")
	for i, b := range document {
		switch b.language {
		case "json":
			configurations++
			if !json.Valid([]byte(b.text)) || strings.Count(b.text, "\n") > 6 {
				t.Errorf("not six lines of JSON:\n%s", b.text)
			}
		case "toml":
			configurations++
		case "sh":
			commands++
			if i+1 == len(document) || document[i+1].language != "text" {
				t.Fatalf("a command without its answer:\n%s", b.text)
			}
			if got, want := shell(t, dir, strings.ReplaceAll(b.text, "http://127.0.0.1:7860", url)), document[i+1].text; !matches(got, want) {
				t.Errorf("%s\ngave\n%s\nand the document says\n%s", b.text, got, want)
			}
		}
	}
	if configurations < 6 || commands != 4 {
		t.Errorf("%d configurations and %d commands", configurations, commands)
	}
}

// matches says whether a text is another one, in which "…" stands for anything.
func matches(text, form string) bool {
	parts := strings.Split(strings.TrimSpace(form), "…")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, ".*") + `$`).MatchString(strings.TrimSpace(text))
}

// hangUpTime is how soon a cell has to end when its caller hangs up.
const hangUpTime = time.Second

// hangUpOverMCP: a Python cell that would run for ever is ended when its
// connection is closed, in both eras; the session's next cell runs at once.
func hangUpOverMCP(t *testing.T, url string) {
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		c := &mcpCaller{t: t, url: url, version: version}
		c.open()
		c.call(context.Background(), "kept = 41")
		ctx, cancel := context.WithCancel(context.Background())
		answer := c.send(ctx, "while True:\n    pass")
		first := make([]byte, 1)
		if _, err := io.ReadFull(answer.Body, first); err != nil { // the early bytes: it runs
			t.Fatal(err)
		}
		cut := time.Now()
		cancel()
		_ = answer.Body.Close()
		text := c.call(context.Background(), "kept + 1")
		took := time.Since(cut)
		if !strings.Contains(text, `"text":"42"`) {
			t.Errorf("%s: the next cell: %s", version, text)
		}
		t.Logf("%s: the cell had ended, and the next one run, %s after the connection was closed", version, took.Round(time.Millisecond))
		if os.Getenv("TEST_TIMES") != "" && took > hangUpTime {
			t.Errorf("%s: it took %s, want %s", version, took, hangUpTime)
		}
	}
}

// mcpCaller makes calls in one era of the protocol.
type mcpCaller struct {
	t                     *testing.T
	url, version, session string
	calls                 int
}

func (c *mcpCaller) post(ctx context.Context, method, body string) *http.Response {
	c.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/mcp", strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header = http.Header{
		"Authorization": {"Bearer " + testToken}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {c.version},
	}
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	if c.version >= "2026-07-28" {
		r.Header.Set("Mcp-Method", method)
		r.Header.Set("Mcp-Name", "stateful_python_code_exec")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer
}

// open starts a session of the protocol where there are some.
func (c *mcpCaller) open() {
	if c.version >= "2026-07-28" {
		return
	}
	ctx := context.Background()
	answer := c.post(ctx, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+c.version+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	_ = answer.Body.Close()
	if c.session = answer.Header.Get("Mcp-Session-Id"); c.session == "" {
		c.t.Fatalf("no session: %s", answer.Status)
	}
	_ = c.post(ctx, "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`).Body.Close()
}

func (c *mcpCaller) send(ctx context.Context, code string) *http.Response {
	text, err := json.Marshal(code)
	if err != nil {
		c.t.Fatal(err)
	}
	c.calls++
	meta := ""
	if c.version >= "2026-07-28" {
		meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"` + c.version + `","io.modelcontextprotocol/clientCapabilities":{}}`
	}
	return c.post(ctx, "tools/call", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"stateful_python_code_exec",
		"arguments":{"wait":60,"code":%s}%s}}`, c.calls+1, text, meta))
}

func (c *mcpCaller) call(ctx context.Context, code string) string {
	answer := c.send(ctx, code)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}
