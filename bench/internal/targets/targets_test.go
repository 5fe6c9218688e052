package targets

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluice-gateway/sluice/bench/internal/load"
)

func TestOnlyLoopbackAddressesAreMeasured(t *testing.T) {
	for _, good := range []string{"http://127.0.0.1:80", "http://127.9.9.9", "http://[::1]:7860"} {
		if err := Loopback(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", "127.0.0.1:80", "http://localhost:80", "http://10.0.0.1", "http://0.0.0.0:80", "http://example.org", "http://127.0.0.1.example.org", "://"} {
		if Loopback(bad) == nil {
			t.Errorf("%q passed", bad)
		}
	}
	if _, err := Open(context.Background(), "a", Config{GatewayURL: "http://10.0.0.1", GatewayPID: 1}); err == nil {
		t.Error("a gateway elsewhere was opened")
	}
	if _, err := Open(context.Background(), "a", Config{}); err == nil || !strings.Contains(err.Error(), "make bench") {
		t.Errorf("without a gateway: %v", err)
	}
	if _, err := Open(context.Background(), "z", Config{}); err == nil {
		t.Error("target z was opened")
	}
}

func TestProgramsAreReadAndChosen(t *testing.T) {
	files := os.DirFS("../../programs")
	all, err := Programs(files)
	if err != nil || len(all) != len(programOrder) {
		t.Fatalf("%d programs, %v", len(all), err)
	}
	last := all[len(all)-1]
	if last.Expression != "12.5 * (3 + 4)" || strings.TrimSpace(last.Want) != "87.5" {
		t.Errorf("%+v", last)
	}
	if some, err := Choose(all, []string{"figure", "factor"}); err != nil || len(some) != 2 || some[0].Name != "factor" {
		t.Errorf("%v, %v", some, err)
	}
	if _, err := Choose(all, []string{"facto"}); err == nil {
		t.Error("an unknown program was chosen")
	}
	if _, err := Programs(fstest.MapFS{}); err == nil {
		t.Error("no files, no error")
	}
	for _, p := range all {
		if strings.Contains(p.withoutBrowser(), "show()") {
			t.Errorf("%s would open a browser", p.Name)
		}
	}
}

func TestAnswersAreHeldAgainstWhatTheProgramPrints(t *testing.T) {
	quick, slow := &warm{started: &started{title: "warm"}}, newFresh(Config{}, "d", "fresh", "")
	factor, figure, refused := Program{Name: "factor", Want: "12\n"}, Program{Name: "figure", Figure: true}, Program{Name: "refused", Refused: true, Want: "12\n"}
	for _, c := range []struct {
		p  Program
		t  Target
		a  Answer
		ok bool
	}{
		{factor, quick, Answer{Stdout: "12"}, true},
		{factor, quick, Answer{Stdout: "13"}, false},
		{factor, quick, Answer{Refused: true}, false},
		{refused, quick, Answer{Refused: true}, true},
		{refused, quick, Answer{Stdout: "12\n"}, true}, // where there is no policy
		{figure, quick, Answer{Figure: true}, true},
		{figure, quick, Answer{}, false},
		{figure, slow, Answer{}, true}, // written and thrown away
	} {
		if err := c.p.Check(c.t, c.a); (err == nil) != c.ok {
			t.Errorf("%s %+v: %v", c.p.Name, c.a, err)
		}
	}
}

func TestSolveReadsEveryKindOfAnswer(t *testing.T) {
	for _, c := range []struct {
		status  int
		body    string
		want    Answer
		outcome load.Outcome
		fails   bool
	}{
		{200, `{"passed":true,"status":"completed","stdout":"12\n","plotly_json":null}`, Answer{Stdout: "12\n"}, load.Answered, false},
		{200, `{"passed":true,"status":"completed","stdout":"","plotly_json":{"data":[]}}`, Answer{Figure: true}, load.Answered, false},
		{200, `{"passed":false,"status":"rejected"}`, Answer{Refused: true}, load.Answered, false},
		{200, `{"passed":false,"status":"error","stderr_summary":"no"}`, Answer{}, load.Answered, true},
		{200, `not JSON`, Answer{}, load.Answered, true},
		{401, `{}`, Answer{}, load.Answered, true},
		{503, `{}`, Answer{}, load.Shed, false},
		{429, `{}`, Answer{}, load.Shed, false},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer secret" || r.URL.Path != "/solve" {
				t.Errorf("%s %v", r.URL, r.Header)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		s, err := Open(context.Background(), "a", Config{GatewayURL: server.URL, Token: "secret", GatewayPID: os.Getpid()})
		if err != nil {
			t.Fatal(err)
		}
		got, outcome, err := s.Call(context.Background(), 0, Program{Name: "p", Code: "print(1)"})
		if got != c.want || outcome != c.outcome || (err != nil) != c.fails {
			t.Errorf("%d %s: %+v, %v, %v", c.status, c.body, got, outcome, err)
		}
		if _, err := s.CPU(); err != nil {
			t.Error(err)
		}
		if m, err := s.Memory(); err != nil || m.PSS == 0 {
			t.Errorf("%+v, %v", m, err)
		}
		s.Close()
		server.Close()
	}
}

// talk is a connection that answers whatever is asked.
type talk struct {
	*bytes.Reader
	asked bytes.Buffer
}

func (t *talk) Write(p []byte) (int, error) { return t.asked.Write(p) }

func TestFramesAreBounded(t *testing.T) {
	frame := func(size uint32, text string) *talk {
		return &talk{Reader: bytes.NewReader(append(binary.BigEndian.AppendUint32(nil, size), text...))}
	}
	good := frame(2, "ok")
	if got, err := exchange(good, []byte("code")); err != nil || string(got) != "ok" || good.asked.String() != "\x00\x00\x00\x04code" {
		t.Errorf("%q, %v, asked %q", got, err, good.asked.String())
	}
	for name, bad := range map[string]*talk{"too long": frame(mostAnswer+1, ""), "cut off": frame(5, "ok"), "none": {Reader: bytes.NewReader(nil)}} {
		if _, err := exchange(bad, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAFreshInterpreterRunsAProgramAndIsCounted(t *testing.T) {
	f := newFresh(Config{Python: "/bin/sh"}, "d", "fresh", "exit_now() { echo 12; }; exit_now #")
	f.command = []string{"/bin/sh"}
	defer f.Close()
	for range 2 {
		got, outcome, err := f.Call(context.Background(), 0, Program{Name: "p", Code: "factor"})
		if err != nil || outcome != load.Answered || got.Stdout != "12\n" {
			t.Fatalf("%+v, %v, %v", got, outcome, err)
		}
	}
	if m, err := f.Memory(); err != nil || m.PSS == 0 {
		t.Errorf("%+v, %v", m, err)
	}
	if _, _, err := (&fresh{command: []string{"/bin/false"}}).Call(context.Background(), 0, Program{Name: "p"}); err == nil {
		t.Error("a program that fails passed")
	}
}
