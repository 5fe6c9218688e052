package main

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// What a cell finds of the cells before it, by chapter of docs/sessions.md.

func TestSessionRandomState(t *testing.T) {
	t.Parallel()
	n := openSession(t, startCopying(t), "a")
	n.want(t, "import random, numpy as np\nrandom.seed(3)\nwant = [random.random() for _ in range(4)]\nrandom.seed(3)\ngot = [random.random()]\nrng = np.random.default_rng(5)\ntwo = np.random.default_rng(5).random(2)\none = rng.random()", "")
	n.want(t, "got.append(random.random())", "")
	n.ends(t, "got.append(random.random())\nwhile True:\n    random.random()", 500*time.Millisecond, executor.StatusWallLimit, executor.SessionRolledBack)
	n.want(t, "got.append(random.random())\ngot.append(random.random())\ngot == want", "True")
	n.want(t, "rng.random() == two[1]", "True")
}

func TestSessionGeneratorsAndFiles(t *testing.T) {
	t.Parallel()
	p := startCopying(t)
	if !p.scratch() {
		t.Skip("SKIPPED LOUDLY: no /tmp of its own here")
	}
	n := openSession(t, p, "a")
	n.want(t, "squares = (k * k for k in range(10))\nf = open('/tmp/notes', 'w+')\nf.write('one\\n')\nf.flush()\nnext(squares)", "0")
	n.ends(t, "next(squares)\nf.write('lost\\n')\nf.flush()\nwhile True:\n    pass", 500*time.Millisecond, executor.StatusWallLimit, executor.SessionRolledBack)
	n.want(t, "next(squares)", "1")
	n.want(t, "open('/tmp/notes').read()", "one\nlost\n") // files are not taken back
	n.want(t, "f.tell()", "9")                            // nor where an open one stands
}

func TestSessionStreams(t *testing.T) {
	t.Parallel()
	n := openSession(t, start(t, nil), "a")
	for _, text := range []string{"first", "second\nline"} {
		o := runSource(t.Context(), n.p, executor.Source{
			Language: languageID, SessionID: "a", ValueWanted: true, Stdin: []byte(text),
			Code: []byte("import sys\nprint('to stderr', file=sys.stderr)\nsys.stdin.read()"),
		}, granted())
		if o.Value != text || o.stderr != "to stderr\n" || o.stdout != "" {
			t.Errorf("%+v, %q, %q, %v", o.Result, o.stdout, o.stderr, o.err)
		}
	}
	n.want(t, "import io\nsys.stdout = io.StringIO()", "")
	if o := n.cell(t, "print('seen')"); o.stdout != "seen\n" {
		t.Errorf("%q", o.stdout)
	}
	n.want(t, "sys.stdout.close()", "")
	if o := n.cell(t, "print('again')"); o.stdout != "again\n" {
		t.Errorf("%q, %+v, %q", o.stdout, o.Problem, o.stderr)
	}
}

func TestSessionFigures(t *testing.T) {
	t.Parallel()
	n := openSession(t, start(t, nil), "a")
	if o := n.cell(t, "import plotly.graph_objects as go\nfig = go.Figure(go.Bar(y=[1]))"); len(o.figure) == 0 {
		t.Errorf("no figure: %+v, %v", o.Result, o.err)
	}
	if o := n.cell(t, "y = 2"); len(o.figure) != 0 {
		t.Errorf("the figure of an earlier cell: %s", o.figure)
	}
	if o := n.cell(t, "fig.add_bar(y=[2])\nfig.show()"); !bytes.Contains(o.figure, []byte("[2]")) {
		t.Errorf("figure %s", o.figure)
	}
}

func TestSessionNamesAreKnown(t *testing.T) {
	t.Parallel()
	n := openSession(t, startCopying(t), "a")
	n.want(t, "import numpy as np\nfrom numpy import load as bring", "")
	n.ends(t, "import pickle as pk\nwhile True:\n    pass", 500*time.Millisecond, executor.StatusWallLimit, executor.SessionRolledBack)
	for code, want := range map[string]string{"np.load('x')": "numpy.load", "bring('x')": "numpy.load"} {
		if tree := n.tree(t, code); !bytes.Contains(tree, []byte(want)) {
			t.Errorf("%q is shown as %s", code, tree)
		}
	}
	if tree := n.tree(t, "pk.load(0)"); bytes.Contains(tree, []byte("pickle.load")) {
		t.Errorf("a cell that was taken back is known: %s", tree)
	}
	// The same path, judged by an earlier cell and by a fork.
	if _, err := n.p.ForkSession(t.Context(), "a", "b"); err != nil {
		t.Fatal(err)
	}
	if tree := (notebook{n.p, "b"}).tree(t, "np.load('x')"); !bytes.Contains(tree, []byte("numpy.load")) {
		t.Errorf("a fork does not know: %s", tree)
	}
}

func TestSessionGrants(t *testing.T) {
	t.Parallel()
	n := openSession(t, start(t, nil), "a")
	g := granted()
	g.Grants = []string{"import:decimal"}
	if o := n.cellWith(t, "import decimal\ndef more():\n    import decimal\n    return decimal.Decimal(2)", g); o.Status != executor.StatusOK {
		t.Errorf("%+v", o.Problem)
	}
	g.Grants = nil
	if o := n.cellWith(t, "str(decimal.Decimal(1) + more())", g); o.Value != "3" {
		t.Errorf("%+v, %q", o.Problem, o.Value)
	}
	for _, code := range []string{"import os", "open('x')", "eval('1')"} {
		if o := n.cellWith(t, code, g); o.Status != executor.StatusRuntimeError {
			t.Errorf("%q: %s", code, o.status())
		}
	}
}

func TestSessionTextForms(t *testing.T) {
	t.Parallel()
	n := openSession(t, start(t, nil), "a")
	n.want(t, "   7", "7")
	n.want(t, "\n\n    a = 3\n    if a:\n        a += 1\n    a\n", "4")
	n.want(t, "    # note\n  b = 1\nb + 1", "2")
	n.want(t, "s = '''\n  kept\n'''\nlen(s)", "8")
	n.ends(t, "'\\ud800'", time.Second, executor.StatusRuntimeError, executor.SessionKept)
	n.ends(t, "return 1", time.Second, executor.StatusCompileError, executor.SessionKept)
	n.ends(t, "def f():\n    1/0\n", time.Second, executor.StatusOK, executor.SessionKept)
	o := n.ends(t, "\n\nf()", time.Second, executor.StatusRuntimeError, executor.SessionKept)
	if o.Problem == nil || o.Problem.Line != 3 || !bytes.Contains([]byte(o.Problem.Trace), []byte("    1/0\n")) {
		t.Errorf("%+v", o.Problem)
	}
}

func TestSessionsEndWhenIdle(t *testing.T) {
	t.Parallel()
	p := start(t, nil)
	if _, err := p.OpenSession(t.Context(), executor.SessionOptions{ID: "a", Language: languageID, Idle: time.Second}); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(30 * time.Second)
	for {
		list, err := p.ListSessions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("still there: %+v", list)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if o := (notebook{p, "a"}).cell(t, "1"); o.status() != executor.StatusSessionLost {
		t.Errorf("%s", o.status())
	}
}

// mostIdleBytes is what a session may be charged that has done little: of that the
// keeper has about 1.5 MiB, and the session and its copy 0.6 MiB each by itself.
const mostIdleBytes = 8 << 20

func TestSessionsAreSmall(t *testing.T) {
	t.Parallel()
	p := start(t, nil)
	n := openSession(t, p, "a")
	n.want(t, "import sympy as sp\nsp.factor(12)", "12")
	if err := p.kept.open["a"].settled(); err != nil {
		t.Fatal(err)
	}
	list, err := p.ListSessions(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	t.Logf("an idle session holds %d KiB", list[0].MemoryBytes>>10)
	if m := list[0].MemoryBytes; m == 0 || m > mostIdleBytes {
		t.Errorf("an idle session holds %d bytes", m)
	}
	n.want(t, "block = bytearray(b'x' * (50 << 20))", "")
	if err := p.kept.open["a"].settled(); err != nil {
		t.Fatal(err)
	}
	if list, err = p.ListSessions(t.Context()); err != nil || list[0].MemoryBytes < 50<<20 {
		t.Errorf("%+v, %v", list, err)
	}
}

// scratch says whether children have a /tmp of their own.
func (p *plugin) scratch() bool { return p.pool.current.about.Apart == byNamespace }

// Sessions withstand the same where less stands around them.
func TestSessionsInEveryWay(t *testing.T) {
	t.Parallel()
	for name, less := range map[string]lessened{
		"uids":           {apart: byUID},
		"groups":         {apart: byGroup},
		"no filter":      {without: []string{wallSeccomp}},
		"only rlimits":   {apart: byUID, without: []string{wallSeccomp, wallLandlock, wallCgroup}},
		"only parentage": {apart: byGroup, without: []string{wallSeccomp, wallLandlock, wallCgroup}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startLess(t, nil, less)
			needCopies(t, p)
			n := openSession(t, p, "a")
			n.want(t, "x = [1]", "")
			n.ends(t, "x.append(2)\nwhile True:\n    pass", 500*time.Millisecond, executor.StatusWallLimit, executor.SessionRolledBack)
			n.want(t, "x", "[1]")
			n.ends(t, "x.append(2)\nblocks = []\nwhile True:\n    blocks.append(bytearray(1 << 22))", 20*time.Second, executor.StatusMemoryLimit, executor.SessionRolledBack)
			n.ends(t, "x.append(2)\nimport ctypes\nctypes.string_at(1)", 20*time.Second, executor.StatusCrashed, executor.SessionRolledBack)
			n.want(t, "x.append(3)\nx", "[1, 3]")
			if _, err := p.ForkSession(t.Context(), "a", "b"); err != nil {
				t.Fatal(err)
			}
			if existed, err := p.CloseSession(t.Context(), "a"); !existed || err != nil {
				t.Errorf("close: %t, %v", existed, err)
			}
			notebook{p, "b"}.want(t, "x", "[1, 3]")
		})
	}
}

// startCopying is start for a test of what a session goes back to.
func startCopying(tb testing.TB) *plugin {
	tb.Helper()
	p := start(tb, nil)
	needCopies(tb, p)
	return p
}

// needCopies skips a test of copies where the kernel lets there be none.
func needCopies(tb testing.TB, p *plugin) {
	tb.Helper()
	if calls := p.pool.ground.plan.SessionCalls; calls != nil && !calls.named() {
		tb.Skip("SKIPPED LOUDLY: without user notification sessions are not copied: TestSessionWithoutCopies is for that")
	}
}

// TestSessionWithoutCopies: where the kernel has no user notification a cell that
// is ended costs the session, which is told, never passed over in silence.
func TestSessionWithoutCopies(t *testing.T) {
	t.Parallel()
	p := startLess(t, nil, lessened{silent: true})
	if calls := p.pool.ground.plan.SessionCalls; calls == nil || calls.named() {
		t.Skip("SKIPPED LOUDLY: no system call filters here")
	}
	n := openSession(t, p, "a")
	n.want(t, "x = [1]", "")
	n.want(t, "x.append(2)\nx", "[1, 2]")
	n.ends(t, "x.append(3)\n1 / 0", 5*time.Second, executor.StatusRuntimeError, executor.SessionKept)
	n.ends(t, "while True:\n    pass", 500*time.Millisecond, executor.StatusWallLimit, executor.SessionKept) // it heeds the interrupt
	n.want(t, "x", "[1, 2, 3]")
	if _, err := p.ForkSession(t.Context(), "a", "b"); !errors.Is(err, executor.ErrSessionBusy) {
		t.Errorf("fork: %v", err)
	}
	n.want(t, "x", "[1, 2, 3]")
	n.ends(t, "import os\nos._exit(3)", 5*time.Second, executor.StatusExitNonzero, executor.SessionLost)
	n.ends(t, "x", 5*time.Second, executor.StatusSessionLost, "")
	m := openSession(t, p, "c")
	m.ends(t, "import socket\nsocket.socket()", 5*time.Second, executor.StatusCrashed, executor.SessionLost)
	if list, err := p.ListSessions(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("listed %+v, %v", list, err)
	}
}

// Normal numbers come in pairs: a fork keeps no half of one that a cell left behind.
func TestSessionForkDrawsItsOwnNormalNumbers(t *testing.T) {
	t.Parallel()
	n := openSession(t, startCopying(t), "a")
	n.want(t, "import numpy as np\nhalf = np.random.randn()", "")
	if _, err := n.p.ForkSession(t.Context(), "a", "b"); err != nil {
		t.Fatal(err)
	}
	const draw = "repr(np.random.randn())"
	one, two := n.cell(t, draw), notebook{n.p, "b"}.cell(t, draw)
	if one.Value == "" || one.Value == two.Value {
		t.Errorf("a session draws %q, its fork %q", one.Value, two.Value)
	}
}
