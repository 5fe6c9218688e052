package audit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/audit"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

func open(t *testing.T, c audit.Config) (*audit.Journal, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	c.Log = slog.New(slog.NewJSONHandler(log, nil))
	j, err := audit.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j, log
}

func shut(t *testing.T, j *audit.Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func entry() gateway.Entry {
	code := []byte("print('secret program')")
	return gateway.Entry{
		Time: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.FixedZone("", 3600)), RequestID: "r-1", Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Caller: "alice",
		Route: gateway.RouteSolve, Tool: "python", Language: "python", Plugin: "python-exec", CodeSHA256: executor.Source{Code: code}.Digest(), CodeBytes: len(code),
		Decision: &gateway.Decision{
			ID: "d-1", Profile: "solve", Revision: "rev", Grants: []string{"import:math"},
			Violations: []gateway.Violation{{
				Rule: "python.import", Level: "error", Message: "import of 'secret' is blocked", Hint: "secret", Subject: "secret", Title: "An import", Line: 3, Column: 5, EndLine: 3, EndColumn: 9, More: 2,
			}},
		},
		Status: gateway.Rejected, Stages: gateway.Stages{Wait: time.Millisecond, Parse: 1500 * time.Microsecond, Judge: 2 * time.Millisecond},
		Usage: executor.Usage{Wall: time.Second, CPU: 3 * time.Millisecond, MaxRSSBytes: 77},
	}
}

func TestALineTellsAllButTheProgram(t *testing.T) {
	out := &bytes.Buffer{}
	j, _ := open(t, audit.Config{Stdout: out, Labels: map[string]string{"app": "sluice"}})
	j.Record(entry())
	shut(t, j)
	want := `{"labels":{"app":"sluice"},"decision_id":"d-1","trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"b7ad6b7169203331",` +
		`"bundles":{"policy":{"revision":"rev"}},"path":"gateway/decision",` +
		`"input":{"language":"python","tool":"python","profile":"solve","caller":"alice","session":false,` +
		`"code":{"sha256":"` + fmt.Sprintf("%x", entry().CodeSHA256) + `","bytes":23}},` +
		`"result":{"allow":false,"violations":[{"rule":"python.import","level":"error","line":3,"column":5,"end_line":3,"end_column":9,"title":"An import","more":2}]},` +
		`"requested_by":"alice","timestamp":"2026-01-02T02:04:05.006Z",` +
		`"metrics":{"timer_wait_ns":1000000,"timer_parse_ns":1500000,"timer_rego_query_eval_ns":2000000,"timer_run_ns":0,` +
		`"timer_usage_wall_ns":1000000000,"timer_usage_cpu_ns":3000000,"counter_peak_memory_bytes":77},` +
		`"custom":{"request_id":"r-1","route":"solve","plugin":"python-exec","status":"rejected"}}` + "\n"
	if out.String() != want {
		t.Errorf("got  %s\nwant %s", out, want)
	}
	if strings.Contains(out.String(), "secret") {
		t.Error("the line quotes the program")
	}
}

func TestVerdicts(t *testing.T) {
	out := &bytes.Buffer{}
	j, _ := open(t, audit.Config{Stdout: out})
	e := entry()
	e.Decision = nil
	e.Status, e.Fault = "", "plugin_died"
	j.Record(e)
	e.Decision = &gateway.Decision{Allow: true}
	j.Record(e)
	j.Record(entry())
	shut(t, j)
	var verdicts []string
	for event, err := range audit.Read(out) {
		if err != nil {
			t.Fatal(err)
		}
		verdicts = append(verdicts, event.Verdict())
	}
	if !slices.Equal(verdicts, []string{"none", "allow", "deny"}) {
		t.Errorf("verdicts %q", verdicts)
	}
}

func TestALineIsBounded(t *testing.T) {
	out := &bytes.Buffer{}
	j, _ := open(t, audit.Config{Stdout: out})
	e := entry()
	e.Tool = strings.Repeat("ä", 1<<18)
	e.Decision.Violations = make([]gateway.Violation, 5000)
	j.Record(e)
	shut(t, j)
	if n := out.Len(); n > 32<<10 || !strings.Contains(out.String(), `"more":4900`) {
		t.Errorf("a line of %d bytes", n)
	}
	if !json.Valid(out.Bytes()) {
		t.Errorf("not JSON: %s", out)
	}
}

func TestAShadowIsTold(t *testing.T) {
	e := entry()
	e.Code = []byte("import secret")
	e.Shadow = &gateway.Shadow{Profile: "next", Decision: &gateway.Decision{ID: "d-2", Profile: "next", Violations: append(e.Decision.Violations, gateway.Violation{
		Rule: "python.name", Level: "warn", Message: "about 'secret'", Hint: "secret", Subject: "secret", Line: 4, Column: 1, EndLine: 4, EndColumn: 2,
	})}}
	faulty := entry()
	faulty.Shadow = &gateway.Shadow{Profile: "next", Fault: "policy_fault"}
	out := &bytes.Buffer{}
	j, _ := open(t, audit.Config{Stdout: out})
	j.Record(e)
	j.Record(faulty)
	shut(t, j)
	for _, want := range []string{
		`"shadow":{"profile":"next","outcome":"changed_reasons","allow":false,"violations":[` +
			`{"rule":"python.import","level":"error","line":3,"column":5,"end_line":3,"end_column":9,"title":"An import","more":2},` +
			`{"rule":"python.name","level":"warn","line":4,"column":1,"end_line":4,"end_column":2}]}}}`,
		`"shadow":{"profile":"next","outcome":"undecided","allow":false,"violations":[],"fault":"policy_fault"}}}`,
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("got %s, want %s", out.String(), want)
		}
	}
	if strings.Contains(out.String(), "d-2") {
		t.Error("the shadow's decision is told as one")
	}
}

func TestSourceIsRecordedWhenAsked(t *testing.T) {
	out := &bytes.Buffer{}
	j, _ := open(t, audit.Config{Stdout: out})
	e := entry()
	e.Code = []byte("print('secret program')\n")
	j.Record(e)
	shut(t, j)
	for _, want := range []string{`"text":"print('secret program')\n"`, `"message":"import of 'secret' is blocked"`, `"subject":"secret"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the line lacks %s: %s", want, out)
		}
	}
}

func TestAMaskIsAppliedAndItsFaultHidesAll(t *testing.T) {
	out := &bytes.Buffer{}
	j, _ := open(t, audit.Config{Stdout: out, Mask: func(event map[string]any) error {
		delete(event["input"].(map[string]any), "code")
		event["erased"] = []string{"/input/code"}
		return nil
	}})
	e := entry()
	e.Code = []byte("print('secret program')\n")
	j.Record(e)
	shut(t, j)
	if strings.Contains(out.String(), "secret program") || !strings.Contains(out.String(), `"erased":["/input/code"]`) {
		t.Errorf("masked: %s", out)
	}
	out.Reset()
	j, log := open(t, audit.Config{Stdout: out, Mask: func(map[string]any) error { return errors.New("mask.rego:3: eval_conflict_error") }})
	j.Record(e)
	shut(t, j)
	if strings.Contains(out.String(), "secret") || !strings.Contains(out.String(), `"erased":["/input","/result"]`) || !strings.Contains(log.String(), "mask.rego:3") {
		t.Errorf("at a fault of the mask: %s\nlog: %s", out, log)
	}
}

func TestWithoutAMaskInForceNoEventIsDecoded(t *testing.T) {
	asked := 0
	j, _ := open(t, audit.Config{Stdout: &bytes.Buffer{}, Masks: func() bool { return false }, Mask: func(map[string]any) error { asked++; return nil }})
	j.Record(entry())
	shut(t, j)
	j, _ = open(t, audit.Config{Stdout: &bytes.Buffer{}, Masks: func() bool { return true }, Mask: func(map[string]any) error { asked++; return nil }})
	j.Record(entry())
	shut(t, j)
	if asked != 1 {
		t.Errorf("the mask was asked %d times, want once: by the journal whose policy has one", asked)
	}
}

// Texts that wait are bounded together, however many lines may wait.
func TestWaitingTextsAreBounded(t *testing.T) {
	g := &gate{entered: make(chan struct{}, 1), open: make(chan struct{})}
	j, _ := open(t, audit.Config{Stdout: g, Queue: 5000})
	j.Record(entry())
	<-g.entered
	e := entry()
	e.Code = make([]byte, 1<<20)
	for range 40 {
		j.Record(e)
	}
	if j.Lost() != 8 {
		t.Errorf("%d lines of 1 MiB were lost, want the 8 beyond 32 MiB", j.Lost())
	}
	close(g.open)
	shut(t, j)
}

func TestOffWritesNothing(t *testing.T) {
	j, _ := open(t, audit.Config{File: audit.Off})
	j.Record(entry())
	shut(t, j)
	if j.Lost() != 0 {
		t.Errorf("%d lines lost", j.Lost())
	}
}

func TestFileIsPrivateAndAppendedTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	for range 2 {
		j, _ := open(t, audit.Config{File: path})
		j.Record(entry())
		shut(t, j)
	}
	raw, err := os.ReadFile(path)
	if err != nil || bytes.Count(raw, []byte("\n")) != 2 {
		t.Errorf("file holds %s, %v", raw, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestWrongPathIsToldAtStart(t *testing.T) {
	if _, err := audit.Open(audit.Config{File: filepath.Join(t.TempDir(), "no", "such", "folder"), Log: slog.Default()}); err == nil {
		t.Error("no error")
	}
}

func TestRotationCutsNoLine(t *testing.T) {
	dir := t.TempDir()
	j, _ := open(t, audit.Config{File: filepath.Join(dir, "audit.jsonl"), RotateBytes: 1 << 20, KeepFiles: 3, Queue: 20000})
	e := entry()
	e.Code = []byte(strings.Repeat("x", 1000))
	const lines = 1000
	for range lines {
		j.Record(e)
	}
	shut(t, j)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("files %q, %v", files, err)
	}
	count := 0
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n") {
			count++
			if !json.Valid([]byte(l)) {
				t.Fatalf("cut line in %s: %.80s", f, l)
			}
		}
	}
	if count != lines || j.Lost() != 0 {
		t.Errorf("%d lines in %d files, %d lost", count, len(files), j.Lost())
	}
}

// gate is a writer that blocks until it is opened.
type gate struct {
	entered, open chan struct{}
	bytes.Buffer
}

func (g *gate) Write(p []byte) (int, error) {
	select {
	case g.entered <- struct{}{}:
	default:
	}
	<-g.open
	return g.Buffer.Write(p)
}

func TestASlowDiskLosesLinesAndSaysHowMany(t *testing.T) {
	g := &gate{entered: make(chan struct{}, 1), open: make(chan struct{})}
	j, log := open(t, audit.Config{Stdout: g, Queue: 2})
	j.Record(entry())
	<-g.entered
	for range 10 { // two wait, eight are lost; none blocks
		j.Record(entry())
	}
	if j.Lost() != 8 {
		t.Errorf("%d lost, want 8", j.Lost())
	}
	close(g.open)
	shut(t, j)
	if n := strings.Count(g.String(), "\n"); n != 3 {
		t.Errorf("%d lines written", n)
	}
	if !strings.Contains(log.String(), `"lost_since_start":8`) {
		t.Errorf("log: %s", log)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestAFailedWriteIsALoss(t *testing.T) {
	j, log := open(t, audit.Config{Stdout: broken{}})
	j.Record(entry())
	shut(t, j)
	if j.Lost() != 1 || !strings.Contains(log.String(), "disk full") {
		t.Errorf("%d lost; log: %s", j.Lost(), log)
	}
}

func TestRecordAfterCloseIsALoss(t *testing.T) {
	out := &bytes.Buffer{}
	j, _ := open(t, audit.Config{Stdout: out})
	shut(t, j)
	shut(t, j)
	j.Record(entry())
	if j.Lost() != 1 || out.Len() != 0 {
		t.Errorf("%d lost, wrote %s", j.Lost(), out)
	}
}

func TestManyRecordAtOnce(t *testing.T) {
	out := &bytes.Buffer{}
	j, _ := open(t, audit.Config{Stdout: out})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				j.Record(entry())
			}
		})
	}
	wg.Wait()
	shut(t, j)
	if n := strings.Count(out.String(), "\n"); n+int(j.Lost()) != 800 || j.Lost() != 0 {
		t.Errorf("%d lines, %d lost", n, j.Lost())
	}
}
