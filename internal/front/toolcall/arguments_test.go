package toolcall

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// FuzzArguments: whatever a model sends, it is a code or a 422.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{"code":"1"}`, `"{\"expr\":1.5}"`, `{"expression":[1,{"a":[null,true,"x'y"]}]}`, `null`, `"x"`, `5`, `{"source":1e999}`, `{"expr":"\u0000"}`,
		strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if json.Unmarshal(raw, new(jsontext.Value)) != nil {
			return // a front takes no such body
		}
		code, _, err := sourceOf(raw, "text")
		var shape *gateway.InvalidError
		if err != nil && (!errors.As(err, &shape) || shape.Field != "arguments" || code != "") {
			t.Fatalf("%q: %q, %v", raw, code, err)
		}
		if !utf8.ValidString(code) {
			t.Fatalf("%q gave %q", raw, code)
		}
	})
}

// TestSource: the program is in the argument that the tool names, or in one of the
// four that models use; a tool that names none takes the arguments as they are.
func TestSource(t *testing.T) {
	for _, row := range []struct{ arguments, argument, want string }{
		{`{"query":"a"}`, "query", "a"}, {`{"query":"a","code":"b"}`, "query", "b"}, {`"{\"query\":1.0}"`, "query", "1.0"},
		{`{"n":1}`, "", `{"n":1}`}, {``, "", `{}`}, {`null`, "", `{}`}, {`"  "`, "", `{}`}, {`{"code":5}`, "code", ""}, {`null`, "code", ""},
	} {
		if got, _, err := sourceOf(jsontext.Value(row.arguments), row.argument); got != row.want || err != nil {
			t.Errorf("%s for %q: %q, %v", row.arguments, row.argument, got, err)
		}
	}
	for _, bad := range []string{`5`, `[]`, `"x"`, `"{"`, `true`} {
		if got, _, err := sourceOf(jsontext.Value(bad), ""); err == nil {
			t.Errorf("%s gave %q", bad, got)
		}
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
	code, _, err := sourceOf(jsontext.Value(`{"expression":`+deep+`}`), "expression")
	if err != nil || !strings.HasPrefix(code, "[[[") || time.Since(begun) > 5*time.Second {
		t.Errorf("%.10q, %v after %v", code, err, time.Since(begun))
	}
}
