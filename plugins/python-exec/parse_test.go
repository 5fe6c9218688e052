package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sluice-gateway/sluice/executor"
)

func TestReadFrame(t *testing.T) {
	limits := frameLimits(100, 50)
	for _, tc := range []struct {
		name string
		in   []byte
		kind kind
		err  error
	}{
		{"tree", appendFrame(nil, frameTree, make([]byte, 108)), frameTree, nil},
		{"tree too large", appendFrame(nil, frameTree, make([]byte, 109)), 0, errFrame},
		{"warmed with payload", appendFrame(nil, frameWarmed, []byte("x")), 0, errFrame},
		{"a host's kind", appendFrame(nil, frameRun, nil), 0, errFrame},
		{"nothing", nil, 0, io.EOF},
		{"half a head", []byte("X\x00"), 0, io.ErrUnexpectedEOF},
		{"half a payload", []byte("X\x00\x00\x00\x05{}"), 0, io.ErrUnexpectedEOF},
		{"huge", []byte("X\xff\xff\xff\xff"), 0, errFrame},
	} {
		k, _, err := readFrame(bytes.NewReader(tc.in), limits)
		if k != tc.kind || !errors.Is(err, tc.err) {
			t.Errorf("%s: %q, %v", tc.name, byte(k), err)
		}
	}
}

func TestCheckFigure(t *testing.T) {
	for text, good := range map[string]bool{
		`{"data":[],"layout":{"title":"a\"[{"}}`: true,
		`[]`:                                     false, `{"a":NaN}`: false, `{"a":1,"a":2}`: false, `{}{}`: false, "": false, "{\"a\":\"\xff\"}": false,
		`{"a":` + strings.Repeat("[", mostFigureDepth-1) + strings.Repeat("]", mostFigureDepth-1) + `}`: true,
		`{"a":` + strings.Repeat("[", mostFigureDepth) + strings.Repeat("]", mostFigureDepth) + `}`:     false,
	} {
		if err := checkFigure([]byte(text)); (err == nil) != good {
			t.Errorf("%.60q: %v", text, err)
		}
	}
}

func TestJudgeExit(t *testing.T) {
	if r := judgeExit(executor.Limits{}, exit{status: 9}); r.Status != executor.StatusCrashed || r.Signal != "SIGKILL" {
		t.Errorf("SIGKILL without a limit: %+v", r)
	}
	if r := judgeExit(executor.Limits{}, exit{status: 34}); r.Signal == "" {
		t.Errorf("a real-time signal: %+v", r)
	}
	if r := judgeExit(executor.Limits{}, exit{status: 5 << 8}); r.Status != executor.StatusExitNonzero || r.ExitCode != 5 {
		t.Errorf("exit code 5: %+v", r)
	}
}

func FuzzReadFrame(f *testing.F) {
	f.Add(appendFrame(appendFrame(nil, frameTree, []byte("\x00\x00\x00\x01\x00\x00\x00\x01{}")), frameEnd, []byte(`{"exit_code":0}`)))
	f.Add([]byte("X\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, in []byte) {
		limits := frameLimits(1<<10, 1<<10)
		for r := bytes.NewReader(in); ; {
			k, payload, err := readFrame(r, limits)
			if err != nil {
				return
			}
			if uint64(len(payload)) > limits[k] {
				t.Fatalf("%q has %d bytes", byte(k), len(payload))
			}
			if again, same, err := readFrame(bytes.NewReader(appendFrame(nil, k, payload)), limits); err != nil || again != k || !bytes.Equal(same, payload) {
				t.Fatalf("%q does not survive: %v", byte(k), err)
			}
		}
	})
}

func FuzzParseEnd(f *testing.F) {
	f.Add([]byte(`{"exit_code":1,"value":"","has_value":false,"figure_bytes":0,"notes":["a"],"problem":{"type":"E","message":"m","line":1,"column":0,"trace":"t"},"memory":false,"misplaced":false}`))
	f.Add([]byte(`{"notes":["a","b","c","d","e","f","g","h","i"],"problem":null}`))
	f.Add([]byte(`{"exit_code":2147483647}`))
	f.Add([]byte(`{"exit_code":-1}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		e, err := parseEnd(in)
		if err != nil {
			return
		}
		if len(e.Value) > valueBytes || len(e.Notes) > mostNotes {
			t.Fatalf("value of %d bytes, %d notes", len(e.Value), len(e.Notes))
		}
		if e.ExitCode < 0 || e.ExitCode > 255 {
			t.Fatalf("exit code %d", e.ExitCode)
		}
		r := judgeEnd(e)
		if r.Status == executor.StatusUnspecified || !utf8.ValidString(r.Value) {
			t.Fatalf("%+v", r)
		}
		if r.Problem != nil && (len(r.Problem.Trace) > textBytes || len(r.Problem.Type) > wordBytes) {
			t.Fatalf("%+v", r.Problem)
		}
	})
}

func FuzzParseProblem(f *testing.F) {
	f.Add([]byte(`{"type":"SyntaxError","message":"m","line":-1,"column":99999999999,"trace":"t"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if p, err := parseProblem(in); err == nil && (len(p.Message) > textBytes || !utf8.ValidString(p.Message)) {
			t.Fatalf("%+v", p)
		}
	})
}

func FuzzParseReport(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x00F\x00\x00\x00\x02\x00\x00\x00"))
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x00R\x00\x00\x00\x0b\x00\x00\x00"))
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x00E\x00\x00\x00\x09\x00\x00\x00" + strings.Repeat("\xff", usageBytes)))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := parseReport(in)
		if err != nil {
			return
		}
		if r.what != hasForked && r.what != hasFailed && r.what != hasEnded {
			t.Fatalf("a report that says nothing: %+v", r)
		}
		if r.cpu < 0 || r.rss > 1<<40 {
			t.Fatalf("%+v", r)
		}
	})
}

func FuzzParseTree(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x01\x00\x00\x00\x02{}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if tree, err := parseTree(in); err == nil && (len(tree.JSON) != len(in)-8 || tree.Nodes != binary.BigEndian.Uint32(in)) {
			t.Fatalf("%+v", tree)
		}
	})
}

func FuzzCheckFigure(f *testing.F) {
	f.Add([]byte(`{"data":[{"x":[1,null]}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if checkFigure(in) != nil {
			return
		}
		var document map[string]any
		if err := json.Unmarshal(in, &document); err != nil {
			t.Fatalf("%q passes and is no object: %v", in, err)
		}
	})
}
