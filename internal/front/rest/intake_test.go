package rest

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-gateway/sluice/internal/gateway"
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

// FuzzArguments: whatever a model sends, it is a code or a 422.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{"code":"1"}`, `"{\"expr\":1.5}"`, `{"expression":[1,{"a":[null,true,"x'y"]}]}`, `null`, `"x"`, `5`, `{"source":1e999}`, `{"expr":"\u0000"}`,
		strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var body callRequest
		if decodeObject([]byte(`{"arguments":`+string(raw)+`}`), &body) != nil {
			return
		}
		code, err := codeOf(body.Arguments)
		var shape *gateway.InvalidError
		if err != nil && (!errors.As(err, &shape) || shape.Field != "arguments" || code != "") {
			t.Fatalf("%q: %q, %v", raw, code, err)
		}
		if !utf8.ValidString(code) {
			t.Fatalf("%q gave %q", raw, code)
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

// The expectations are CPython 3.11's str(json.loads(text)).
func TestPythonStr(t *testing.T) {
	for text, want := range map[string]string{
		`"a'b"`: "a'b", `1`: "1", `-0`: "0", `-0.0`: "-0.0", `1.0`: "1.0", `1e5`: "100000.0", `1e15`: "1000000000000000.0", `1e16`: "1e+16",
		`123456789012345678901234567890`: "123456789012345678901234567890", `0.0001`: "0.0001", `0.00001`: "1e-05", `1.5e300`: "1.5e+300",
		`1e400`: "inf", `-1e400`: "-inf", `true`: "True", `false`: "False", `null`: "", `[]`: "[]", `{}`: "{}", `[null]`: "[None]",
		`{"b":1,"a":[1.5,"x"]}`: "{'b': 1, 'a': [1.5, 'x']}", `["a'b","a\"b","a'\"b"]`: `["a'b", 'a"b', 'a\'"b']`,
		`["\n\t\r\\\u0000\u001f\u007f\u00e9\u00a0\u200b\ud83d\ude00\u2028\udb40\udc01"]`: `['\n\t\r\\\x00\x1f\x7fé\xa0\u200b😀\u2028\U000e0001']`,
	} {
		if got := pythonStr(jsontext.Value(text)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestDeepArgumentsAreQuick(t *testing.T) {
	deep := strings.Repeat("[", 9000) + strings.Repeat(`"`+strings.Repeat("x", 20)+`",`, 1000) + "1" + strings.Repeat("]", 9000)
	begun := time.Now()
	code, err := codeOf(jsontext.Value(`{"expression":` + deep + `}`))
	if err != nil || !strings.HasPrefix(code, "[[[") || time.Since(begun) > 5*time.Second {
		t.Errorf("%.10q, %v after %v", code, err, time.Since(begun))
	}
}

func TestWholeTimeouts(t *testing.T) {
	for in, want := range map[float64]time.Duration{2: 2 * time.Second, 0.5: 500 * time.Millisecond, 1e-9: time.Millisecond, 1e308: longest} {
		if got, err := seconds("timeout", &in); got != want || err != nil {
			t.Errorf("%v: %v, %v", in, got, err)
		}
	}
}
