package clients

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkToolCall has the same call made in turn by POST /v1/tools/call and
// over the Model Context Protocol, in both eras, and tells the medians and what the
// protocol costs more. It wants a gateway that runs:
//
//	scripts/with_gateway.py -- go test -run '^$' -bench ToolCall -benchtime 2000x ./internal/front/mcp/clients
func BenchmarkToolCall(b *testing.B) {
	g := os.Getenv("GATEWAY_URL")
	if g == "" {
		b.Skip("GATEWAY_URL names no gateway: run it by scripts/with_gateway.py")
	}
	session, err := openSession(g)
	if err != nil {
		b.Fatal(err)
	}
	const arguments = `{"expression":"2**67 - 1"}`
	ways := []struct {
		name, path, body string
		header           http.Header
		took             []time.Duration
	}{
		{name: "rest", path: "/v1/tools/call", body: `{"name":"calculator","arguments":` + arguments + `}`},
		{
			name: "modern", path: "/mcp", header: http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"calculator"}},
			body: `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"calculator","arguments":` + arguments + `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		},
		{
			name: "legacy", path: "/mcp", header: http.Header{"Mcp-Protocol-Version": {"2025-11-25"}, "Mcp-Session-Id": {session}},
			body: `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"calculator","arguments":` + arguments + `}}`,
		},
	}
	b.ResetTimer()
	for i := range b.N {
		for w := range ways {
			body := ways[w].body
			if strings.Contains(body, "%d") {
				body = fmt.Sprintf(body, i+10)
			}
			begun := time.Now()
			if err := timedCall(g+ways[w].path, ways[w].header, body); err != nil {
				b.Fatalf("%s: %v", ways[w].name, err)
			}
			ways[w].took = append(ways[w].took, time.Since(begun))
		}
	}
	b.StopTimer()
	b.ReportMetric(0, "ns/op")
	base := time.Duration(0)
	for _, w := range ways {
		slices.Sort(w.took)
		median := w.took[len(w.took)/2]
		b.ReportMetric(float64(median.Microseconds()), w.name+"-p50-µs")
		if w.name == "rest" {
			base = median
			continue
		}
		b.ReportMetric(float64((median - base).Microseconds()), w.name+"-more-µs")
	}
}

// openSession starts a session of the older protocol.
func openSession(url string) (string, error) {
	answer, err := post(url+"/mcp", nil, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}`)
	if err != nil {
		return "", err
	}
	_ = answer.Body.Close()
	session := answer.Header.Get("Mcp-Session-Id")
	answer, err = post(url+"/mcp", http.Header{"Mcp-Session-Id": {session}, "Mcp-Protocol-Version": {"2025-11-25"}}, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if err != nil {
		return "", err
	}
	return session, answer.Body.Close()
}

func post(url string, header http.Header, body string) (*http.Response, error) {
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+os.Getenv("GATEWAY_TOKEN"))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, values := range header {
		r.Header[name] = values
	}
	return http.DefaultClient.Do(r)
}

func timedCall(url string, header http.Header, body string) error {
	answer, err := post(url, header, body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && !strings.Contains(string(text), "147573952589676412927") {
		err = fmt.Errorf("%s: %s", answer.Status, text)
	}
	return err
}
