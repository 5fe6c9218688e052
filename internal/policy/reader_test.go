package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
)

// seeds are texts that test every branch of the reader.
func seeds() []string {
	return []string{
		`{}`, `[]`, `null`, `true`, `false`, `0`, `-0`, `1`, `-12.5e+3`, `1E-2`, `9007199254740993`, `"a"`, `""`, ` [ 1 , "a" ] `,
		`{"a":{"b":{"c":{"d":"e","f":"g"}}}}`, `{"a":{"b":{"c":{"d":"e","f":1}}}}`, `["a","b",{"c":[["d"],[]]},null,1.5]`,
		`"\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00"`, `"é😀"`, "\"a\u2028\"",
		`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `"\ud800"`, `"\ud800\ud800"`, `"\udc00"`, `"\ud800x"`, `"\u12"`, `"\u+123"`, `"\x"`, "\"\n\"", `"a`, `"a\`,
		`01`, `1.`, `.5`, `1e`, `+1`, `--1`, `1e401`, `1e-401`, `0x1`, `NaN`, `Infinity`, `tru`, `nul`, `falsee`,
		`{`, `[`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `[1,]`, `[1`, `["a"`, `["a",`, `["a",]`, `{1:2}`, `{"a" 1}`, `[1 2]`, `1 2`, `{} x`, ``, ` `, "\x00", "1\x00",
		"\"\xff\"", "\xef\xbb\xbf1", strings.Repeat("[", 100) + strings.Repeat("]", 100), strings.Repeat("9", 400),
	}
}

// asJSON is what encoding/json reads, as a value of Rego; numbers are kept as
// text.
func asJSON(doc []byte) (ast.Value, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() || !json.Valid(doc) {
		return nil, errors.New("text after the end")
	}
	return ast.InterfaceToValue(v)
}

// stricter reports whether err is one of the reasons for which the reader
// refuses what encoding/json takes.
func stricter(err error) bool {
	for _, reason := range []error{errDuplicate, errSurrogate, errUTF8, errDepth, errNumber} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// same holds readJSON against encoding/json: it takes no other texts, refuses
// those that it must alone, and reads the same value.
func same(t *testing.T, doc []byte) {
	t.Helper()
	got, err := readJSON(doc)
	want, wantErr := asJSON(doc)
	switch {
	case err != nil:
		if wantErr == nil && !stricter(err) {
			t.Errorf("%q: %v, encoding/json reads %v", doc, err, want)
		}
		return
	case wantErr != nil:
		t.Fatalf("%q: read as %v, encoding/json: %v", doc, got, wantErr)
	}
	value, err := ast.InterfaceToValue(got)
	if err != nil || value.Compare(want) != 0 {
		t.Errorf("%q: read as %v (%v), want %v", doc, value, err, want)
	}
	if object, ok := got.(map[string]any); ok {
		if lazy := ast.LazyObject(object); lazy.Compare(want) != 0 {
			t.Errorf("%q: lazily %v, want %v", doc, lazy, want)
		}
	}
}

func TestReaderReadsWhatEncodingJSONReads(t *testing.T) {
	for _, doc := range seeds() {
		same(t, []byte(doc))
	}
	for _, name := range []string{"fifty.json", "fifty-whole.json"} {
		doc, err := os.ReadFile("testdata/python/" + name)
		if err != nil {
			t.Fatal(err)
		}
		same(t, doc)
		if value, err := readJSON(doc); err != nil || len(value.(map[string]any)) != 5 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReaderIsStricter(t *testing.T) {
	for doc, want := range map[string]error{
		`{"a":1,"a":1}`: errDuplicate, `{"a":{"b":{"c":{"d":"e","d":"e"}}}}`: errDuplicate, `{"a":1,"\u0061":1}`: errDuplicate,
		`"\ud800"`: errSurrogate, `"\udc00\ud800"`: errSurrogate, "\"\xff\"": errUTF8,
		strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1): errDepth,
		strings.Repeat(`{"a":`, maxDepth+1):                               errDepth,
		strings.Repeat("9", maxNumber+1):                                  errNumber, `1e401`: errNumber, `1e99999999999999999999`: errNumber,
	} {
		if _, err := readJSON([]byte(doc)); !errors.Is(err, want) {
			t.Errorf("%.40q: %v, want %v", doc, err, want)
		}
	}
	deep := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	if _, err := readJSON([]byte(deep)); err != nil {
		t.Errorf("depth %d: %v", maxDepth, err)
	}
}

// What is cut from a slab must not change when its neighbour grows.
func TestReaderArraysDoNotShare(t *testing.T) {
	value, err := readJSON([]byte(`[["a","b"],["c"],[1,2],[3]]`))
	if err != nil {
		t.Fatal(err)
	}
	list := value.([]any)
	_ = append(list[0].([]string), "x")
	_ = append(list[2].([]any), "x")
	want := []any{[]string{"a", "b"}, []string{"c"}, []any{json.Number("1"), json.Number("2")}, []any{json.Number("3")}}
	if !reflect.DeepEqual(value, want) {
		t.Errorf("read %v, want %v", value, want)
	}
}

func FuzzReadJSON(f *testing.F) {
	for _, doc := range seeds() {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if len(doc) > 1<<16 || bytes.Count(doc, []byte("[")) > 1000 || bytes.Count(doc, []byte("{")) > 1000 {
			return // encoding/json's own bound of depth
		}
		same(t, doc)
	})
}
