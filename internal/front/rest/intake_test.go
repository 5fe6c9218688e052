package rest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sluice-gateway/sluice/internal/front/toolcall"
)

// FuzzIntake: whatever comes, it is a code or a 400 or 422, and a code is text
// that the standard library's decoder reads in the same way.
func FuzzIntake(f *testing.F) {
	for _, seed := range []string{
		`{"code":"print(1)"}`, `{"code":"a\ud83d\ude00","timeout":1}`, `{"code":"a\ud83d"}`, `{"code":"a","code":"b"}`, `{"CODE":"a"}`,
		`{"code":1}`, `[]`, `null`, "", "{\"code\":\"\xff\"}", `{"timeout":1e400,"code":""}`, `{"code":"a"}x`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var v solveRequest
		err := decodeObject(raw, &v)
		if err != nil {
			if status := refusalFor(err, Limits{}).status; status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
				t.Fatalf("%q: %v is %d", raw, err, status)
			}
			return
		}
		if !json.Valid(raw) || !utf8.Valid(raw) {
			t.Fatalf("%q was taken", raw)
		}
		if v.Code == nil {
			return
		}
		var same map[string]json.RawMessage
		var code string
		if json.Unmarshal(raw, &same) != nil || json.Unmarshal(same["code"], &code) != nil || code != *v.Code || !utf8.ValidString(code) {
			t.Fatalf("%q gave %q", raw, *v.Code)
		}
		if _, err := seconds("timeout", v.Timeout); err == nil && v.Timeout != nil && *v.Timeout <= 0 {
			t.Fatalf("%q: timeout %v was taken", raw, *v.Timeout)
		}
	})
}

// FuzzAccept: the choice is always one of the offers.
func FuzzAccept(f *testing.F) {
	for _, seed := range []string{"", "*/*", "text/plain;q=0.5, application/json", "text/*;q=", ";;,,=", strings.Repeat("a/b,", 9999)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, accept string) {
		if got := prefers([]string{accept}, "application/json", "text/plain"); got != "application/json" && got != "text/plain" {
			t.Fatalf("%q gave %q", accept, got)
		}
	})
}

func TestAccept(t *testing.T) {
	for accept, want := range map[string]string{
		"": "application/json", "*/*": "application/json", "text/plain": "text/plain", "TEXT/Plain; charset=utf-8": "text/plain",
		"text/*": "text/plain", "application/json, text/plain, */*": "application/json", "text/plain, */*": "text/plain",
		"text/plain;q=0.1, application/json": "application/json", "text/plain;q=0.9, application/json;q=0.8": "text/plain",
		"text/plain;q=0": "application/json", "text/plain;q=2": "application/json", "text/plain;q=x": "application/json",
		"text/plain;q=NaN": "application/json", "image/png": "application/json", "text/plain;q=0,*/*": "application/json",
		"application/json;q=0, */*;q=0.1": "text/plain",
	} {
		if got := prefers([]string{accept}, "application/json", "text/plain"); got != want {
			t.Errorf("%q: got %q, want %q", accept, got, want)
		}
	}
	if got := prefers([]string{"text/plain;q=0.2", "application/json;q=0.1"}, "application/json", "text/plain"); got != "text/plain" {
		t.Errorf("two headers: got %q", got)
	}
}

func TestWholeTimeouts(t *testing.T) {
	for in, want := range map[float64]time.Duration{2: 2 * time.Second, 0.5: 500 * time.Millisecond, 1e-9: time.Millisecond, 1e308: toolcall.Longest} {
		if got, err := seconds("timeout", &in); got != want || err != nil {
			t.Errorf("%v: %v, %v", in, got, err)
		}
	}
}
