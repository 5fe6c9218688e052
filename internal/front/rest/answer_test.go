package rest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// ends makes python end every program with res, after printing text.
func (l *lab) ends(text string, res executor.Result) {
	l.python.submit = func(context.Context, executor.Source) (gateway.Submission, error) { return prints(text, res), nil }
}

func (l *lab) solve() string {
	l.t.Helper()
	w := l.do(call{path: "/solve", token: token, body: `{"code":"x = 1"}`})
	if w.Code != 200 {
		l.t.Fatalf("solve: %d %s", w.Code, w.Body)
	}
	return strings.TrimSpace(w.Body.String())
}

func TestSolveAnswersSixKeys(t *testing.T) {
	problem := &executor.Problem{Type: "ValueError", Message: "no", Line: 1, Trace: "Traceback\nValueError: no"}
	figure := func(data string) executor.Result {
		return executor.Result{Status: executor.StatusOK, Artifacts: []executor.Artifact{
			{MediaType: "text/plain", Data: []byte("not one")},
			{MediaType: "application/vnd.plotly.v1+json", Data: []byte(`{"data":[]}`)},
			{MediaType: "application/vnd.plotly.v1+json", Data: []byte(data)},
		}}
	}
	rows := []struct {
		name, printed string
		result        executor.Result
		want          string
	}{
		{"completed", "12\n", executor.Result{Status: executor.StatusOK}, `{"passed":true,"status":"completed","timed_out":false,"stdout":"12\n","stderr_summary":null,"plotly_json":null}`},
		{"html is not escaped", "<a&b>", executor.Result{Status: executor.StatusOK}, `{"passed":true,"status":"completed","timed_out":false,"stdout":"<a&b>","stderr_summary":null,"plotly_json":null}`},
		{"raised", "", executor.Result{Status: executor.StatusRuntimeError, Problem: problem}, `{"passed":false,"status":"error","timed_out":false,"stdout":"","stderr_summary":"Traceback\nValueError: no","plotly_json":null}`},
		{"wall", "a", executor.Result{Status: executor.StatusWallLimit}, `{"passed":false,"status":"timeout","timed_out":true,"stdout":"a","stderr_summary":"timed out: wall-clock limit of 30s reached","plotly_json":null}`},
		{"crash", "", executor.Result{Status: executor.StatusCrashed, Signal: "SIGSEGV"}, `{"passed":false,"status":"crash","timed_out":false,"stdout":"","stderr_summary":"the program was ended by signal SIGSEGV","plotly_json":null}`},
		{"bad UTF-8 printed", "a\xff", executor.Result{Status: executor.StatusOK}, `{"passed":true,"status":"completed","timed_out":false,"stdout":"a` + "\uFFFD" + `","stderr_summary":null,"plotly_json":null}`},
		{"the last figure", "", figure(`{"data":[{"y":[1,null]}],"layout":{}}`), `{"passed":true,"status":"completed","timed_out":false,"stdout":"","stderr_summary":null,"plotly_json":{"data":[{"y":[1,null]}],"layout":{}}}`},
		{"a figure that is none", "", figure(`[1]`), `{"passed":true,"status":"completed","timed_out":false,"stdout":"","stderr_summary":"the figure was left out: it is not a JSON object","plotly_json":{"data":[]}}`},
		{"a figure that is no JSON", "", figure(`{"y":NaN}`), `{"passed":true,"status":"completed","timed_out":false,"stdout":"","stderr_summary":"the figure was left out: it is not a JSON object","plotly_json":{"data":[]}}`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			l := newLab(t)
			l.ends(row.printed, row.result)
			if got := l.solve(); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

func TestFigureOverItsBoundIsNullAndTold(t *testing.T) {
	l := newLab(t)
	big := `{"data":"` + strings.Repeat("a", 600<<10) + `"}`
	l.ends("", executor.Result{Status: executor.StatusOK, Artifacts: []executor.Artifact{{MediaType: "application/vnd.plotly.v1+json", Data: []byte(big)}}})
	got := l.solve()
	if !strings.Contains(got, `"passed":true`) || !strings.Contains(got, `"plotly_json":null`) || !strings.Contains(got, "512 KiB") {
		t.Errorf("got %s", got)
	}
}

func TestSolveOfRefusedAndUnparsed(t *testing.T) {
	l := newLab(t)
	w := l.do(call{path: "/solve", token: token, body: `{"code":"import forbidden"}`})
	for _, part := range []string{`"status":"rejected"`, `"passed":false`, "line 1, column 8", "blocked", "use math"} {
		if !strings.Contains(w.Body.String(), part) {
			t.Errorf("rejected answer %s lacks %q", w.Body, part)
		}
	}
	l.python.submit = func(context.Context, executor.Source) (gateway.Submission, error) {
		return &submission{ended: &executor.Result{
			Status:  executor.StatusCompileError,
			Problem: &executor.Problem{Type: "SyntaxError", Message: "invalid syntax", Line: 2, Column: 3},
		}}, nil
	}
	if got := l.solve(); !strings.Contains(got, `"status":"syntax_error"`) || !strings.Contains(got, "line 2, column 3") {
		t.Errorf("got %s", got)
	}
	check := l.do(call{path: "/v1/check", token: token, body: `{"code":"("}`})
	want := `{"allow":false,"violations":[{"rule":"syntax","level":"error","message":"SyntaxError: invalid syntax","hint":"","line":2,"column":3,"end_line":2,"end_column":3}],"policy":null}`
	if strings.TrimSpace(check.Body.String()) != want {
		t.Errorf("check: %s", check.Body)
	}
}

func TestTimeoutIsAskedAndLowered(t *testing.T) {
	for body, want := range map[string]time.Duration{
		`{"code":"x"}`: 30 * time.Second, `{"code":"x","timeout":2.5}`: 2500 * time.Millisecond, `{"code":"x","timeout":60}`: time.Minute,
		`{"code":"x","timeout":1e300}`: 2 * time.Minute, `{"code":"x","timeout":1e-30}`: time.Millisecond,
	} {
		l := newLab(t)
		var got executor.Limits
		l.python.submit = func(context.Context, executor.Source) (gateway.Submission, error) {
			return &submission{run: func(_ context.Context, g executor.Grant, _ func(executor.Stream, []byte)) (executor.Result, error) {
				got = g.Limits
				return executor.Result{Status: executor.StatusOK}, nil
			}}, nil
		}
		l.do(call{path: "/solve", token: token, body: body})
		if got.Wall != want || got.CPU != want {
			t.Errorf("%s: wall %v, cpu %v, want %v", body, got.Wall, got.CPU, want)
		}
	}
}

func TestCheck(t *testing.T) {
	l := newLab(t)
	w := l.do(call{path: "/v1/check", token: token, body: `{"code":"1","profile":"tool"}`})
	if got := strings.TrimSpace(w.Body.String()); got != `{"allow":true,"violations":[],"policy":{"revision":"r1","profile":"tool"}}` {
		t.Errorf("allowed: %s", got)
	}
	w = l.do(call{path: "/v1/check", token: token, body: `{"code":"import forbidden","tool":"PYTHON"}`})
	want := `{"allow":false,"violations":[{"rule":"python.import","level":"error","message":"import of 'forbidden' is blocked","hint":"use math","line":1,"column":8,"end_line":1,"end_column":17}],"policy":{"revision":"r1","profile":"solve"}}`
	if got := strings.TrimSpace(w.Body.String()); got != want {
		t.Errorf("refused: %s", got)
	}
}

func TestRunGivesTheFullAnswer(t *testing.T) {
	l := newLab(t)
	var src executor.Source
	var granted executor.Limits
	l.python.submit = func(_ context.Context, s executor.Source) (gateway.Submission, error) {
		src = s
		return &submission{run: func(_ context.Context, g executor.Grant, out func(executor.Stream, []byte)) (executor.Result, error) {
			granted = g.Limits
			out(executor.Stdout, []byte("out"))
			out(executor.Stderr, []byte("err"))
			return executor.Result{
				Status: executor.StatusRuntimeError, HasValue: true, Value: "7", LimitFired: "stdout_bytes", Walls: []string{"rlimits"},
				Problem:       &executor.Problem{Type: "E", Message: "m", Line: 3, Trace: "T"},
				StdoutOmitted: 5, Notes: []string{"note"}, Usage: executor.Usage{Wall: 1500 * time.Microsecond, CPU: time.Millisecond, MaxRSSBytes: 9},
				Artifacts: []executor.Artifact{{MediaType: "application/vnd.plotly.v1+json", Data: []byte(`{"data":[1]}`)}},
			}, nil
		}}, nil
	}
	w := l.do(call{path: "/v1/run", token: token, body: `{"tool":"python","code":"x","stdin":"in","wait":0,
		"limits":{"wall_seconds":5,"cpu_seconds":4,"memory_bytes":20000000,"output_bytes":2000}}`})
	want := `{"status":"error","value":"7","stdout":"out\n[output truncated: 5 bytes omitted]","stderr":"err","truncated":{"stdout":5,"stderr":0},` +
		`"error":{"type":"E","message":"m","line":3,"traceback":"T"},"notes":["note"],"figures":[{"data":[1]}],"violations":[],` +
		`"usage":{"wall_ms":1.5,"cpu_ms":1,"peak_memory_bytes":9},` +
		`"limits":{"wall_seconds":5,"cpu_seconds":4,"memory_bytes":20000000,"output_bytes":2000,"stdout_bytes":262144,"stderr_bytes":65536,"fired":"stdout_bytes"},` +
		`"isolation":["rlimits"],"policy":{"revision":"r1","profile":"solve","decision_id":"d-1"},` +
		`"plugin":{"name":"test-python","version":"1.2.3","language_version":"3.11"},"session":null}`
	if got := strings.TrimSpace(w.Body.String()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if string(src.Stdin) != "in" || !src.ValueWanted || granted.MemoryBytes != 20000000 {
		t.Errorf("the plugin saw %+v, %+v", src, granted)
	}
}

func TestRunTellsALimitAsError(t *testing.T) {
	l := newLab(t)
	l.ends("", executor.Result{Status: executor.StatusExitNonzero, ExitCode: 3, Notes: []string{"note"}})
	w := l.do(call{path: "/v1/run", token: token, body: `{"code":"x"}`})
	if !strings.Contains(w.Body.String(), `"error":{"type":"error","message":"the program ended with exit code 3","line":null,"traceback":null}`) {
		t.Errorf("got %s", w.Body)
	}
}

func TestToolsInEveryFormat(t *testing.T) {
	const schema = `{"type":"object","properties":{"expression":{"type":"string"}},"required":["expression"]}`
	const text = `"name":"calculator","description":"Evaluate within 120.0 seconds."`
	for query, want := range map[string]string{
		"":                  `{"tools":[{"type":"function","function":{` + text + `,"parameters":` + schema + `}}]}`,
		"?format=chat":      `{"tools":[{"type":"function","function":{` + text + `,"parameters":` + schema + `}}]}`,
		"?format=responses": `{"tools":[{"type":"function",` + text + `,"parameters":` + schema + `,"strict":false}]}`,
		"?format=anthropic": `{"tools":[{` + text + `,"input_schema":` + schema + `}]}`,
		"?format=mcp":       `{"tools":[{` + text + `,"inputSchema":` + schema + `}]}`,
	} {
		w := newLab(t).do(call{method: "GET", path: "/v1/tools" + query, token: token})
		if got := strings.TrimSpace(w.Body.String()); got != want {
			t.Errorf("%q: got %s, want %s", query, got, want)
		}
	}
}

func TestToolWithoutParameters(t *testing.T) {
	l := newLab(t)
	l.calc.tool.Parameters = []byte("no json")
	w := l.do(call{method: "GET", path: "/v1/tools?format=mcp", token: token})
	if !strings.Contains(w.Body.String(), `"inputSchema":{"type":"object"}`) {
		t.Errorf("got %s", w.Body)
	}
}

type observed struct {
	OK        bool
	Output    string
	Status    string
	SessionID *string `json:"session_id"`
	State     *string
	RequestID string `json:"request_id"`
}

func observe(t *testing.T, w *httptest.ResponseRecorder) observed {
	t.Helper()
	var o observed
	if err := json.Unmarshal(w.Body.Bytes(), &o); err != nil || w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return o
}

func TestToolCallsFindNameAndCode(t *testing.T) {
	for body, want := range map[string]string{
		`{"name":"calculator","arguments":{"expression":"1+1"}}`:                      "1+1",
		`{"name":" Calc ","arguments":{"expression":"1+1"}}`:                          "1+1",
		`{"name":"CALCULATOR","arguments":"{\"expr\":\"3 + 4\"}"}`:                    "3 + 4",
		`{"name":"calc","arguments":{"code":" ","source":"5"}}`:                       "5",
		`{"name":"calc","arguments":{"code":7,"expression":42}}`:                      "42",
		`{"name":"calc","arguments":{"expression":1e22}}`:                             "1e+22",
		`{"name":"calc","arguments":{"expression":[1,true,null,"a'b",{"k":2.0}]}}`:    `[1, True, None, "a'b", {'k': 2.0}]`,
		`{"name":"calc","arguments":{"expression":null,"expr":"6"},"session_id":"s"}`: "6",
	} {
		o := observe(t, newLab(t).do(call{path: "/v1/tools/call", token: token, body: body}))
		if !o.OK || o.Output != want || o.Status != "completed" || o.State != nil || o.SessionID != nil || o.RequestID == "" {
			t.Errorf("%s: %+v, want output %q", body, o, want)
		}
	}
}

func TestEmptyCodeIsAToolError(t *testing.T) {
	for _, arguments := range []string{`{}`, `null`, `""`, `"{}"`, `{"code":""}`, `{"code":"\n "}`, `{"code":null}`, `{"cod":"1","expr":" "}`} {
		o := observe(t, newLab(t).do(call{path: "/v1/tools/call", token: token, body: `{"name":"calc","arguments":` + arguments + `}`}))
		if o.OK || o.Status != "error" || o.Output != "code is empty" {
			t.Errorf("%s: %+v", arguments, o)
		}
	}
	o := observe(t, newLab(t).do(call{path: "/v1/tools/call", token: token, body: `{"name":"calc"}`}))
	if o.Output != "code is empty" {
		t.Errorf("no arguments: %+v", o)
	}
	for arguments, want := range map[string]string{
		`{"code":7}`:                            "code is empty: arguments.code must be a string",
		`{"Code":"1"}`:                          `code is empty: arguments.expression is missing; there is "Code"`,
		`{"` + strings.Repeat("x", 65) + `":1}`: "code is empty: arguments.expression is missing; there is another name",
	} {
		o := observe(t, newLab(t).do(call{path: "/v1/tools/call", token: token, body: `{"name":"calc","arguments":` + arguments + `}`}))
		if o.OK || o.Status != "error" || o.Output != want {
			t.Errorf("%s: %+v", arguments, o)
		}
	}
}

func TestCalculatorTextOfSeveralStatementsIsAPythonCell(t *testing.T) {
	for _, code := range []string{"x = 6; x * 7", "x = 6\nx * 7\n"} {
		l := newLab(t)
		raw, _ := json.Marshal(code)
		o := observe(t, l.do(call{path: "/v1/tools/call", token: token, body: `{"name":"calc","arguments":{"expression":` + string(raw) + `}}`}))
		if !o.OK || o.Output != code+"\n" || o.State == nil || *o.State != "new" {
			t.Errorf("%q: %+v", code, o)
		}
		w := l.do(call{path: "/v1/tools/call", token: token, body: `{"name":"calc","session_id":"s_1","arguments":{"expression":` + string(raw) + `}}`})
		if w.Code != 404 || !strings.Contains(detail(w), "session") {
			t.Errorf("with a session: %d %s", w.Code, w.Body)
		}
	}
}

func TestPythonToolWithoutSessions(t *testing.T) {
	l := newLab(t)
	l.python.tool = executor.Tool{Name: "python", SourceArgument: "code"}
	for _, name := range []string{"python", "Code-Interpreter", "python_exec", "python_code_exec"} {
		o := observe(t, l.do(call{path: "/v1/tools/call", token: token, body: `{"name":"` + name + `","arguments":{"code":"x"}}`}))
		if !o.OK || o.Output != "x\n" || o.State == nil || *o.State != "new" || o.SessionID != nil {
			t.Errorf("%s: %+v", name, o)
		}
	}
	for _, body := range []string{
		`{"name":"python","session_id":"s_1","arguments":{"code":"x"}}`, `{"name":"Stateful-Python-Code-Exec","session_id":"s_1","arguments":{"code":"x"}}`,
	} {
		if w := l.do(call{path: "/v1/tools/call", token: token, body: body}); w.Code != 404 || !strings.Contains(detail(w), "session") {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
}

func TestCellWhilePythonIsDown(t *testing.T) {
	l := newLab(t)
	l.python.submit = func(context.Context, executor.Source) (gateway.Submission, error) { return nil, gateway.ErrPluginDown }
	w := l.do(call{path: "/v1/tools/call", token: token, body: `{"name":"calc","arguments":{"expression":"1;2"}}`})
	if w.Code != 503 {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

func TestCellWithoutPythonGoesToTheCalculator(t *testing.T) {
	l := newLab(t, func(c *gateway.Config) { c.Executors = c.Executors.(targets)[:1] })
	o := observe(t, l.do(call{path: "/v1/tools/call", token: token, body: `{"name":"calc","arguments":{"expression":"1;2"}}`}))
	if o.Output != "1;2" || o.State != nil {
		t.Errorf("got %+v", o)
	}
}

func TestObservations(t *testing.T) {
	zero := &executor.Problem{Type: "ZeroDivisionError", Message: "division by zero", Line: 1, Trace: "Traceback …"}
	rows := []struct {
		name, printed string
		result        executor.Result
		ok            bool
		want          string
	}{
		{"nothing", "", executor.Result{Status: executor.StatusOK}, true, "None"},
		{"printed", "a\n", executor.Result{Status: executor.StatusOK}, true, "a\n"},
		{"printed and value", "a\n", executor.Result{Status: executor.StatusOK, HasValue: true, Value: "0.5"}, true, "a\n0.5"},
		{"printed without a line end and value", "a", executor.Result{Status: executor.StatusOK, HasValue: true, Value: "5"}, true, "a5"},
		{"cut and value", "a", executor.Result{Status: executor.StatusOK, StdoutOmitted: 3, HasValue: true, Value: "5"}, true, "a\n[output truncated: 3 bytes omitted]\n5"},
		{"raised", "", executor.Result{Status: executor.StatusRuntimeError, Problem: zero}, false, "ZeroDivisionError: division by zero"},
		{"printed and raised", "a", executor.Result{Status: executor.StatusRuntimeError, Problem: zero}, false, "a\nZeroDivisionError: division by zero"},
		{"wall", "a\n", executor.Result{Status: executor.StatusWallLimit}, false, "a\ntimed out after 120s"},
		{"cpu", "", executor.Result{Status: executor.StatusCPULimit}, false, "timed out after 120s of CPU time"},
		{"memory", "", executor.Result{Status: executor.StatusMemoryLimit}, false, "memory limit of 1 GiB reached"},
		{"crash", "", executor.Result{Status: executor.StatusCrashed, Signal: "SIGKILL"}, false, "the program was ended by signal SIGKILL"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			l := newLab(t)
			l.calc.submit = func(context.Context, executor.Source) (gateway.Submission, error) {
				return prints(row.printed, row.result), nil
			}
			c := call{path: "/v1/tools/call", token: token, body: `{"name":"calc","arguments":{"code":"1"}}`}
			if o := observe(t, l.do(c)); o.OK != row.ok || o.Output != row.want {
				t.Errorf("got %+v, want ok %v and %q", o, row.ok, row.want)
			}
			c.header = map[string]string{"Accept": "text/plain"}
			w := l.do(c)
			if w.Body.String() != row.want || w.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
				t.Errorf("as text: %q, %q", w.Body, w.Header().Get("Content-Type"))
			}
		})
	}
}

func TestRefusedToolCall(t *testing.T) {
	o := observe(t, newLab(t).do(call{path: "/v1/tools/call", token: token, body: `{"name":"calc","arguments":{"code":"forbidden"}}`}))
	if o.OK || o.Status != "rejected" || !strings.Contains(o.Output, "blocked") {
		t.Errorf("got %+v", o)
	}
}

func TestErrorOfALaterLineNamesIt(t *testing.T) {
	l := newLab(t)
	l.ends("", executor.Result{Status: executor.StatusRuntimeError, Problem: &executor.Problem{Type: "E", Message: "m", Line: 2}})
	o := observe(t, l.do(call{path: "/v1/tools/call", token: token, body: `{"name":"calc","arguments":{"code":"1\n2"}}`}))
	if o.Output != "E: m (line 2)" {
		t.Errorf("got %+v", o)
	}
}

func TestHead(t *testing.T) {
	w := newLab(t).do(call{method: http.MethodHead, path: "/healthz"})
	if w.Code != 200 {
		t.Errorf("HEAD /healthz: %d", w.Code)
	}
}
