package mcp

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzMessage: whatever is sent, what is taken is JSON that the standard library
// reads too, and the id that is given back is one that was there.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, `{"id":"a","method":"x"}`, `[{"id":1}]`, `{"id":null}`, `{"id":{},"method":5}`, `{"id":1,"id":2}`, `{"id":1,"METHOD":"x"}`, `{"id":1e300,"method":"x"}`, `{"id":9007199254740993,"result":{}}`, "{\"id\":\"\xff\"}", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var m message
		if m.peek(raw) != nil {
			return
		}
		if !json.Valid(raw) || !utf8.Valid(raw) {
			t.Fatalf("%q was taken", raw)
		}
		if m.id != nil && !strings.Contains(string(raw), string(m.id)) {
			t.Fatalf("%q has no id %s", raw, m.id)
		}
		if asks, answers := kindOf(raw); asks && answers {
			t.Fatalf("%q is both a request and an answer", raw)
		}
	})
}

// FuzzArguments: whatever a model sends, it is handles or a refusal that a caller
// may see.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{"session_id":"s","wait":1}`, `{"session_id":5}`, `{"wait":"x"}`, `null`, `[]`, `"x"`, `{"wait":1e999}`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, err := handlesOf(raw)
		if err != nil && (h != handles{} || !utf8.ValidString(err.Error())) {
			t.Fatalf("%q: %+v, %v", raw, h, err)
		}
	})
}

// FuzzSchema: whatever a plugin describes as parameters, what is offered is JSON,
// and a plugin's own property is left as it is.
func FuzzSchema(f *testing.F) {
	for _, seed := range []string{`{"type":"object"}`, `{"properties":{"session_id":{"type":"integer"}}}`, `{"properties":5}`, `[]`, `{"a":1,"a":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		value := jsontext.Value(raw)
		if !value.IsValid() || value.Kind() != '{' {
			return // described as no object: replaced before
		}
		if out := withSession(value); !out.IsValid() || out.Kind() != '{' {
			t.Fatalf("%q became %q", raw, out)
		}
	})
}

// FuzzNews: whatever a program prints, what is told of it is short, one line, and
// steers no terminal.
func FuzzNews(f *testing.F) {
	for _, seed := range []string{"a\nb\n", "\x1b[2J", "\xff\xfe", strings.Repeat("é", 500), "\u202eabc", "\r\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, chunk []byte) {
		line := lastLine(chunk)
		if len(line) > longestNews || !utf8.ValidString(line) || strings.ContainsFunc(line, unicode.IsControl) {
			t.Fatalf("%q gave %q", chunk, line)
		}
	})
}

// FuzzOrigin: a browser's request for another origin's page is never served.
func FuzzOrigin(f *testing.F) {
	f.Add("http://evil.example", "127.0.0.1:7860", "")
	f.Add("http://127.0.0.1:7860", "127.0.0.1:7860", "cross-site")
	f.Add("null", "[::1]:1", "none")
	f.Fuzz(func(t *testing.T, origin, host, site string) {
		r := &http.Request{Method: http.MethodGet, Host: host, Header: http.Header{"Origin": {origin}, "Sec-Fetch-Site": {site}}}
		if !foreign(r) && origin != "" && site != "same-origin" && site != "none" && !strings.HasSuffix(origin, "://"+host) {
			t.Fatalf("a page of %q was let in to %q (%q)", origin, host, site)
		}
	})
}

// TestOriginTwice: a header line that is empty does not hide the one behind it.
func TestOriginTwice(t *testing.T) {
	for _, header := range []http.Header{
		{"Origin": {"", "http://evil.example"}}, {"Origin": {"http://127.0.0.1:7860", "http://evil.example"}}, {"Sec-Fetch-Site": {"", "cross-site"}},
		{"Origin": {"http://evil.example"}, "Sec-Fetch-Site": {"same-origin", "cross-site"}}, {"Origin": {"http://evil.example"}, "Sec-Fetch-Site": {""}},
	} {
		if !foreign(&http.Request{Method: http.MethodPost, Host: "127.0.0.1:7860", Header: header}) {
			t.Errorf("%v was let in", header)
		}
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1:80": true, "127.9.9.9": true, "localhost": true, "localhost:1": true, "[::1]": true, "[::1]:80": true, "::1": true,
		"evil.example": false, "10.0.0.1:80": false, "": false, "[": false, "localhost.evil.example": false,
	} {
		if got := loopback(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}
