package main

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

func TestValue(t *testing.T) {
	p := start(t, nil)
	for code, want := range map[string]string{
		"1 + 1":        "2",
		"6 / 2":        "3",
		"0.1 + 0.2":    "0.3",
		"2 / 3":        "0.666666666667",
		"1e15":         "1e+15",
		"1e300":        "1e+300",
		"float('nan')": "nan",
		"True":         "True",
		"'text'":       "text",
		"x = 5\nx * 2": "10",
		"[1, 2.0]":     "[1, 2.0]",
		"from __future__ import annotations\ndef f(x: missing): pass\n(lambda: 7)()": "7",
		"import numpy as np\nnp.float64(2.5)":                                        "2.5",
		"import sympy as sp\nsp.Rational(1, 2)":                                      "1/2",
	} {
		o := run(t, p, code, granted())
		if o.status() != executor.StatusOK || !o.HasValue || o.Value != want {
			t.Errorf("%q: %v, value %q (%v), want %q; %+v", code, o.status(), o.Value, o.HasValue, want, o.Problem)
		}
	}
	for _, code := range []string{"x = 1", "None", "print(1)", "def f(): return 1"} {
		if o := run(t, p, code, granted()); o.HasValue {
			t.Errorf("%q has the value %q", code, o.Value)
		}
	}
	if o := run(t, p, "class C:\n    def __str__(self): raise ValueError('no text')\nC()", granted()); o.status() != executor.StatusRuntimeError || o.Problem.Line != 2 {
		t.Errorf("a value without text: %v, %+v", o.status(), o.Problem)
	}
}

const bar = "import plotly.graph_objects as go\nimport numpy as np\n"

func TestFigure(t *testing.T) {
	p := start(t, nil)
	for _, tc := range []struct{ name, code, kind string }{
		{"shown last wins", bar + "go.Figure(go.Pie()).show()\ngo.Figure(go.Bar()).show()\ngo.Figure(go.Scatter())", "bar"},
		{"shown by plotly.io", bar + "import plotly.io as pio\npio.show(go.Figure(go.Bar()))\nx = go.Figure(go.Pie())", "bar"},
		{"last value", bar + "fig = go.Figure(go.Pie())\ngo.Figure(go.Bar())", "bar"},
		{"bound last", bar + "a = go.Figure(go.Pie())\nb = go.Figure(go.Scatter())\na = go.Figure(go.Bar())\nc = 3", "bar"},
		{"bound by a function", bar + "def f():\n    global g\n    g = go.Figure(go.Bar())\nf()", "bar"},
		{"plotly.express, lists", "import plotly.express as px\npx.line(x=[1, 2], y=[3, 4])", "scatter"},
		{"plotly.express, a dict", "import plotly.express as px\npx.scatter({'a': [1, 2], 'b': [3, 4]}, x='a', y='b')", "scatter"},
		{"plotly.express, names", "import plotly.express as px\npx.bar(x=['a', 'b'], y=[3, 4], labels={'x': 'n'})", "bar"},
		{"shown in a thread", bar + "import threading\nthreading.Thread(target=go.Figure(go.Bar()).show).start()", "bar"},
		{"none", bar + "x = {'data': [], 'layout': {}}\nx", ""},
		{"an impostor", bar + "class Figure:\n    def to_plotly_json(self): return {'data': [{'type': 'bar'}]}\nfig = Figure()\nfig", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := run(t, p, tc.code, granted())
			if o.status() != executor.StatusOK || o.stdout != "" || o.stderr != "" {
				t.Fatalf("%v %q %q %+v", o.status(), o.stdout, o.stderr, o.Problem)
			}
			if tc.kind == "" {
				if o.figure != nil {
					t.Fatalf("figure %s", o.figure)
				}
				return
			}
			var fig struct {
				Data []struct{ Type string }
			}
			if err := json.Unmarshal(o.figure, &fig); err != nil || len(fig.Data) != 1 || fig.Data[0].Type != tc.kind {
				t.Fatalf("figure %.200s: %v; notes %q", o.figure, err, o.Notes)
			}
		})
	}
}

func TestFigureIsPlainJSON(t *testing.T) {
	p := start(t, nil)
	o := run(t, p, bar+lines(
		"import datetime, decimal, sympy as sp",
		"go.Figure(go.Scatter(",
		"    x=np.array([0.5, float('nan'), float('inf')]),",
		"    y=[sp.Rational(1, 2), sp.sqrt(2), decimal.Decimal('1.5')],",
		"    customdata=np.arange(4).reshape(2, 2), ids=[10**400, 7, 10**5000], meta=sp.Integer(10)**400,",
		"    text=[datetime.date(2020, 1, 2), 'π', '\\ud83d'],",
		"), layout={'title': 'x'})"), granted())
	var fig struct {
		Data []map[string]any
	}
	if err := json.Unmarshal(o.figure, &fig); err != nil {
		t.Fatalf("%v: %.300s; %v %+v %q", err, o.figure, o.status(), o.Problem, o.Notes)
	}
	want := map[string]any{
		"x":          []any{0.5, nil, nil},
		"y":          []any{0.5, math.Sqrt2, 1.5},
		"customdata": []any{[]any{0.0, 1.0}, []any{2.0, 3.0}},
		"ids":        []any{nil, 7.0, nil},
		"text":       []any{"2020-01-02", "π", "?"},
	}
	for key, value := range want {
		if got := fig.Data[0][key]; !reflect.DeepEqual(got, value) {
			t.Errorf("%s is %v, want %v", key, got, value)
		}
	}
}

func TestFigureOverItsBound(t *testing.T) {
	p := start(t, nil)
	o := run(t, p, bar+"go.Figure(go.Scatter(x=list(range(70000)), y=[k * k / 7 for k in range(70000)])).show()\nprint('ready')", granted())
	if o.status() != executor.StatusOK || o.stdout != "ready\n" || o.figure != nil || o.LimitFired != "plotly_bytes" {
		t.Fatalf("%v %q figure of %d bytes, limit %q", o.status(), o.stdout, len(o.figure), o.LimitFired)
	}
	if len(o.Notes) != 1 || !strings.Contains(o.Notes[0], "at most 512 KiB") {
		t.Errorf("notes %q", o.Notes)
	}
}

func TestProblems(t *testing.T) {
	p := start(t, nil)
	for _, tc := range []struct {
		name, code   string
		line         uint32
		holds, lacks []string
	}{
		{"name", "a = 3\n\n\nc = a + missing", 4, []string{`File "<solution>", line 4`, "c = a + missing", "NameError: name 'missing'"}, nil},
		{"in a library", "import sympy as sp\nsp.sympify('2*x +')", 2, []string{"SympifyError", "line 2"}, []string{"site-packages", "sympify.py", "runtime"}},
		{"in a callback", "def f(k):\n    return 1 / k\nsorted([0, 1], key=f)", 2, []string{"line 3", "line 2, in f", "ZeroDivisionError"}, nil},
		{"chain", "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('bad') from e", 4, []string{"ZeroDivisionError", "direct cause", "ValueError: bad"}, nil},
		{"long", "raise ValueError('x' * 3000000)", 1, []string{"ValueError: xxx", "[...]"}, nil},
		{"group", "raise ExceptionGroup('several', [ValueError('one'), TypeError('two')])", 1, []string{"ValueError: one", "TypeError: two"}, nil},
		{"path", "from sympy import nothing_such", 1, []string{"cannot import name"}, []string{"site-packages", "/sympy/__init__.py (", "/root"}},
		{"deep", "def f(n): return f(n + 1)\nf(0)", 1, []string{"RecursionError", "Previous line repeated"}, nil},
		{"mute", "class E(Exception):\n    def __str__(self): return 1 / 0\nraise E", 3, []string{"E: <exception str() failed>"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := run(t, p, tc.code, granted())
			if o.status() != executor.StatusRuntimeError || o.Problem == nil {
				t.Fatalf("%v %v %q", o.status(), o.err, o.stderr)
			}
			if o.Problem.Line != tc.line {
				t.Errorf("line %d, want %d", o.Problem.Line, tc.line)
			}
			if len(o.Problem.Trace) > 8<<10 {
				t.Errorf("trace of %d bytes", len(o.Problem.Trace))
			}
			for _, part := range tc.holds {
				if !strings.Contains(o.Problem.Trace, part) {
					t.Errorf("trace lacks %q:\n%s", part, o.Problem.Trace)
				}
			}
			for _, part := range append(tc.lacks, "<runtime>", "/lib/python") {
				if strings.Contains(o.Problem.Trace, part) || strings.Contains(o.Problem.Message, part) {
					t.Errorf("trace holds %q:\n%s", part, o.Problem.Trace)
				}
			}
		})
	}
}

func TestCompileErrors(t *testing.T) {
	p := start(t, nil)
	for _, tc := range []struct {
		code, kind   string
		line, column uint32
		trace        string
	}{
		{"values = [1, 2, 3\nprint(sum(values))", "SyntaxError", 1, 10, "  File \"<solution>\", line 1\n    values = [1, 2, 3\n             ^\nSyntaxError: '[' was never closed\n"},
		{"if True:\n\tx = 1\n        y = 2\n", "TabError", 3, 0, "inconsistent use of tabs"},
		{"x = 1\x00", "SyntaxError", 1, 6, "NUL"},
		{"x = 1\ry = 2", "SyntaxError", 1, 6, "carriage return"},
		{"é = \xff", "SyntaxError", 0, 0, "UTF-8"},
		{"π = 'é' é", "SyntaxError", 1, 9, "\n    π = 'é' é\n            ^\n"},
		{"x =\u00a04\n", "SyntaxError", 1, 4, "U+00A0"},
		{"print(" + strings.Repeat("1 + ", 2000) + "1", "SyntaxError", 1, 6, "was never closed"},
	} {
		o := run(t, p, tc.code, granted())
		var got *executor.CompileError
		if o.status() != executor.StatusCompileError {
			t.Errorf("%.20q: %v %v", tc.code, o.status(), o.err)
			continue
		}
		if got, _ = o.err.(*executor.CompileError); got == nil { //nolint:errorlint // handed back as it is
			t.Errorf("%.20q: %T", tc.code, o.err)
			continue
		}
		if got.Type != tc.kind || got.Line != tc.line || (tc.column != 0 && got.Column != tc.column) || !strings.Contains(got.Trace, tc.trace) || len(got.Trace) > 2000 {
			t.Errorf("%.20q: %s at %d:%d\n%s", tc.code, got.Type, got.Line, got.Column, got.Trace)
		}
	}
}

func TestSourceForms(t *testing.T) {
	p := start(t, nil)
	for code, want := range map[string]string{
		"\ufeffprint('mark')": "mark\n",
		"total = 0\r\nfor k in range(4):\r\n    total += k\r\nprint(total)\r\n":                                                                "6\n",
		"# -*- coding: latin-1 -*-\nprint('café', len('é'))":                                                                                   "café 1\n",
		"# coding: utf-7\n+AHAAcgBpAG4AdA-(1)\nprint('read as UTF-8')":                                                                         "",
		"if __name__ == '__main__': print(__name__)":                                                                                           "__main__\n",
		"from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: int = 2\nprint(P(1))": "P(x=1, y=2)\n",
		"import sys\nsys.stdout.buffer.write(b'\\xff\\n')":                                                                                     "\xff\n",
		"import math\nmath.pi = 3\nprint(math.pi)":                                                                                             "3\n",
		"import math\nprint(math.pi)":                                                                                                          "3.141592653589793\n",
		"print('a\\rb')":                                                                                                                       "a\rb\n",
	} {
		if o := run(t, p, code, granted()); o.stdout != want {
			t.Errorf("%q printed %q, want %q; %v %+v", code, o.stdout, want, o.status(), o.Problem)
		}
	}
}

func TestWarnings(t *testing.T) {
	p := start(t, nil)
	o := run(t, p, "import numpy as np\nprint(np.array([2.0, 0.0]) / 0)\nimport warnings\nwarnings.warn('use the new solver', DeprecationWarning)", granted())
	if o.status() != executor.StatusOK || o.stdout != "[inf nan]\n" {
		t.Fatalf("%v %q %+v", o.status(), o.stdout, o.Problem)
	}
	for _, part := range []string{"<solution>:2: RuntimeWarning: divide by zero", "<solution>:4: DeprecationWarning: use the new solver\n  warnings.warn("} {
		if !strings.Contains(o.stderr, part) {
			t.Errorf("stderr lacks %q: %q", part, o.stderr)
		}
	}
}

func TestFence(t *testing.T) {
	p := start(t, nil)
	g := granted()
	g.Grants = []string{"import:math", "import:datetime", "import:sympy", "import:sympy.stats"}
	for code, want := range map[string]string{
		"import math\nprint(math.sqrt(4))":                                        "2.0\n",
		"import sympy.stats\nprint(sympy.factor(12))":                             "12\n",
		"import datetime\nprint(datetime.datetime.strptime('2020', '%Y').year)":   "2020\n",
		"try:\n    import os\nexcept ImportError as e:\n    print(e)":             "import of 'os' is blocked\n",
		"try:\n    import sympy.printing\nexcept ImportError as e:\n    print(e)": "import of 'sympy.printing' is blocked\n",
		"for n in 'open', 'exec', 'eval', 'compile', 'input', 'breakpoint', 'exit', 'quit', 'help', 'license', 'copyright', 'credits':\n    if n in __builtins__: print(n)": "",
		"class A:\n    @property\n    def x(self): return super().__repr__()[:1]\nprint(A().x, type(A()).__name__, issubclass(ZeroDivisionError, ArithmeticError))":         "< A True\n",
	} {
		if o := run(t, p, code, g); o.status() != executor.StatusOK || o.stdout != want {
			t.Errorf("%q printed %q, want %q; %v %+v", code, o.stdout, want, o.status(), o.Problem)
		}
	}
	for _, code := range []string{"open('x')", "eval('1')", "import os"} {
		if o := run(t, p, code, g); o.status() != executor.StatusRuntimeError {
			t.Errorf("%q: %v %q", code, o.status(), o.stdout)
		}
	}
}

// TestChildrenDiffer runs every generator in two children: none may repeat.
func TestChildrenDiffer(t *testing.T) {
	p := start(t, nil)
	code := lines(
		"import random, numpy as np, sympy.core.random as sr, gc",
		"print(random.random()); print(np.random.rand()); print(sr.rng.random()); print(np.random.default_rng().random()); print(np.random.randn())",
		"gc.unfreeze()",
		"for g in gc.get_objects():",
		"    if issubclass(type(g), (random.Random, np.random.RandomState, np.random.Generator)): print(g.random())",
		"import tempfile; print(next(tempfile._get_candidate_names()))")
	first, second := run(t, p, code, granted()), run(t, p, code, granted())
	a, b := strings.Fields(first.stdout), strings.Fields(second.stdout)
	if len(a) < 8 || len(a) != len(b) {
		t.Fatalf("%q and %q; %+v", first.stdout, second.stdout, first.Problem)
	}
	for i := range a {
		if a[i] == b[i] {
			t.Errorf("line %d is %s in both", i+1, a[i])
		}
	}
}

// TestCollector wants cycles of a program's collected, though the runtime's own
// steps run without.
func TestCollector(t *testing.T) {
	p := start(t, nil)
	code := lines("import gc, weakref", "class Node: pass", "seen = []", "for i in range(2000):",
		"    a = Node(); a.me = a; seen.append(weakref.ref(a))",
		"print(gc.isenabled(), gc.get_threshold(), sum(one() is None for one in seen) > 1000)")
	want := "True (700, 10, 10) True\n"
	if o := run(t, p, code, granted()); o.stdout != want {
		t.Errorf("a program prints %q, not %q; %+v", o.stdout, want, o.Problem)
	}
	if got := openSession(t, p, "s_collector").cell(t, code); got.stdout != want {
		t.Errorf("a cell prints %q, not %q; %+v", got.stdout, want, got.Problem)
	}
}

func TestChildSeesNothing(t *testing.T) {
	t.Setenv("SOLVER_TOKEN", "a-secret-of-the-gateway")
	p := start(t, nil)
	o := run(t, p, lines(
		"import os",
		"def is_open(fd):",
		"    try: os.fstat(fd); return True",
		"    except OSError: return False",
		"print(dict(os.environ))",
		"print([fd for fd in range(1024) if is_open(fd)])",
	), granted())
	if o.status() != executor.StatusOK || strings.Contains(o.stdout, "secret") || strings.Contains(o.stdout, "SOLVER") {
		t.Fatalf("%v %q %+v", o.status(), o.stdout, o.Problem)
	}
	if !strings.HasSuffix(o.stdout, "[0, 1, 2, 3]\n") {
		t.Errorf("descriptors: %q", o.stdout)
	}
	for _, name := range []string{"HOME", "LANG", "LC_ALL", "MALLOC_ARENA_MAX", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "TZ"} {
		o.stdout = strings.Replace(o.stdout, "'"+name+"'", "", 1)
	}
	if strings.Count(o.stdout, ": ") != strings.Count(o.stdout, "{: ")+strings.Count(o.stdout, ", : ") {
		t.Errorf("the environment holds more than its own: %q", o.stdout)
	}
}

func TestStdin(t *testing.T) {
	p := start(t, nil)
	big := strings.Repeat("line\n", 100_000)
	o := runSource(t.Context(), p, executor.Source{Language: languageID, Stdin: []byte(big), Code: []byte("import sys\nprint(len(sys.stdin.read()))")}, granted())
	if o.stdout != "500000\n" {
		t.Errorf("%q %v %+v", o.stdout, o.status(), o.Problem)
	}
	o = runSource(t.Context(), p, executor.Source{Language: languageID, Stdin: []byte(big), Code: []byte("print('unread')")}, granted())
	if o.stdout != "unread\n" {
		t.Errorf("%q %v", o.stdout, o.status())
	}
}

// TestCompileBomb: 19 nested finally blocks parse at once and compile for long.
func TestCompileBomb(t *testing.T) {
	p := start(t, nil)
	var code strings.Builder
	for i := range 19 {
		code.WriteString(strings.Repeat(" ", i) + "try:\n" + strings.Repeat(" ", i+1) + "pass\n" + strings.Repeat(" ", i) + "finally:\n")
	}
	code.WriteString(strings.Repeat(" ", 19) + "pass\n")
	g := granted()
	g.Limits.Wall = time.Second
	g.Limits.MemoryBytes = 256 << 20
	o := run(t, p, code.String(), g)
	if !slices.Contains([]executor.Status{executor.StatusWallLimit, executor.StatusMemoryLimit}, o.status()) {
		t.Errorf("%v %+v", o.status(), o.Problem)
	}
}

func TestParseLimit(t *testing.T) {
	p := start(t, nil)
	src := executor.Source{Language: languageID, Code: []byte(strings.Repeat("a=1;", 100_000)), ParseLimits: executor.Limits{Wall: 20 * time.Millisecond}}
	if o := runSource(t.Context(), p, src, granted()); o.status() != executor.StatusWallLimit {
		t.Errorf("%v %v", o.status(), o.err)
	}
	src = executor.Source{Language: languageID, Code: []byte(strings.Repeat("a=1;", 5000)), MaxTreeBytes: 1000}
	if o := runSource(t.Context(), p, src, granted()); o.status() != executor.StatusTreeTooLarge {
		t.Errorf("%v %v", o.status(), o.err)
	}
}

func TestCancel(t *testing.T) {
	p := start(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(200*time.Millisecond, func() { cancel(executor.ErrCancelled) })
	begin := time.Now()
	o := runSource(ctx, p, executor.Source{Language: languageID, Code: []byte("print('so far')\nwhile True: pass")}, granted())
	if o.status() != executor.StatusCancelled || o.stdout != "so far\n" || time.Since(begin) > 2*time.Second {
		t.Errorf("%v %q after %v", o.status(), o.stdout, time.Since(begin))
	}
	if run(t, p, "print(1)", granted()).stdout != "1\n" {
		t.Error("the next submission does not run")
	}
}
