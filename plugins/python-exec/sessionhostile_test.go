package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// tree is what the policy is shown of a cell that is not run.
func (n notebook) tree(tb testing.TB, code string) []byte {
	tb.Helper()
	prog, err := n.p.Parse(tb.Context(), executor.Source{Language: languageID, Code: []byte(code), SessionID: n.id})
	if err != nil {
		tb.Fatal(err)
	}
	defer prog.Close()
	return prog.Tree().JSON
}

// A thread goes on while its cell is ended; it must find nothing to change.
func TestSessionThreadLeavesCheckpointAlone(t *testing.T) {
	t.Parallel()
	n := openSession(t, startCopying(t), "a")
	n.want(t, "import threading\nn = 0\nseen = []", "")
	n.ends(t, `
def count():
    global n
    while True:
        n += 1
        seen.append(n)
        if len(seen) > 1000:
            seen.clear()
threading.Thread(target=count, daemon=True).start()
while True:
    pass
`, time.Second, executor.StatusWallLimit, executor.SessionRolledBack)
	for range 3 {
		n.want(t, "n, seen, threading.active_count()", "(0, [], 1)")
	}
}

// spoil replaces the functions of the runtime that a program can reach: all of
// them, or, with a mark in place, those alone that parse, show and compile, so
// that the session goes on.
const spoil = `
import gc, sys, types, ast, json, marshal, builtins
def liar(*args, **kwargs):
    return None
todo, seen = list(gc.get_objects()), set()
frame = sys._getframe()
while frame is not None:
    todo.append(frame.f_globals)
    todo.append(frame.f_locals)
    frame = frame.f_back
spoiled = 0
while todo:
    thing = todo.pop()
    if id(thing) in seen:
        continue
    seen.add(id(thing))
    if isinstance(thing, types.FunctionType):
        where = thing.__code__.co_filename
        if where.startswith('<runtime>') and (not CAREFUL or '/session' not in where and ( '/index' in where or '/cells' in where or thing.__name__ in ('judged', 'parse', 'dump', 'decode', 'compiled', 'compile_problem'))):
            if not thing.__code__.co_freevars:
                thing.__code__ = liar.__code__.replace(co_name=thing.__name__)
                spoiled += 1
        todo.append(thing.__globals__)
    elif isinstance(thing, types.ModuleType) and thing.__name__.startswith(('_runtime', 'ast', 'json')):
        todo.append(vars(thing))
    elif isinstance(thing, (list, tuple, set)) and len(thing) < 10000:
        todo.extend(thing)
    elif isinstance(thing, dict) and len(thing) < 10000:
        todo.extend(list(thing.values()))
    elif isinstance(thing, type):
        todo.extend(list(vars(thing).values()))
    elif isinstance(thing, types.MethodType):
        todo.append(thing.__func__)
ast.parse = builtins.compile = liar
print(spoiled, flush=True)
`

func spoilText(careful string) string { return strings.Replace(spoil, "CAREFUL", careful, 1) }

func TestSessionThatSpoilsTheRuntimeIsJudgedTruly(t *testing.T) {
	t.Parallel()
	p := startCopying(t)
	honest, spoiled := openSession(t, p, "honest"), openSession(t, p, "spoiled")
	honest.want(t, "x = 1", "")
	for _, careful := range []string{"False", "True"} {
		o := spoiled.ends(t, spoilText(careful), 3*time.Second, map[string]executor.Status{"False": executor.StatusWallLimit, "True": executor.StatusOK}[careful],
			map[string]string{"False": executor.SessionRolledBack, "True": executor.SessionKept}[careful])
		if n := strings.TrimSpace(o.stdout); n == "" || n == "0" {
			t.Fatalf("nothing was spoiled: %+v, %v, %s", o.Result, o.err, o.stderr)
		}
	}
	const code = "import os\nos.system('id')\n"
	if want, got := honest.tree(t, code), spoiled.tree(t, code); !bytes.Contains(want, []byte("os.system")) || !bytes.Contains(got, []byte("os.system")) {
		t.Errorf("the policy sees %s, and of an honest session %s", got, want)
	}
	// Whatever became of it, it answers in time and harms nobody else.
	spoiled.want(t, "1 + 1", "2")
	honest.want(t, "x", "1")
}

func TestSessionCellsCannotFork(t *testing.T) {
	t.Parallel()
	p := startCopying(t)
	if p.pool.ground.plan.SessionCalls == nil {
		t.Skip("SKIPPED LOUDLY: no system call filters here")
	}
	n := openSession(t, p, "a")
	n.want(t, "x = 1", "")
	o := n.ends(t, "import os\nx = 2\nos.fork()", 5*time.Second, executor.StatusCrashed, executor.SessionRolledBack)
	if o.ForbiddenCall != "clone" {
		t.Errorf("forbidden call %q", o.ForbiddenCall)
	}
	n.want(t, "x", "1")
	// The very call that copies a session, made by a cell, and by a thread that races for it.
	const clone = "import ctypes\nlibc = ctypes.CDLL(None)\ndef copy():\n    return libc.syscall(56, 0x8000 | 17, 0, 0, 0, 0)\n"
	n.ends(t, clone+"copy()", 5*time.Second, executor.StatusCrashed, executor.SessionRolledBack)
	n.want(t, clone+`
import threading, time
def race():
    time.sleep(0.3)
    while True:
        copy()
threading.Thread(target=race, daemon=True).start()
`, "")
	o = n.cell(t, "import time\ntime.sleep(2)")
	if o.SessionState != executor.SessionLost {
		t.Errorf("a thread made a process: %+v, %v", o.Result, o.err)
	}
}

func TestSessionForgedFrames(t *testing.T) {
	t.Parallel()
	p := startCopying(t)
	n := openSession(t, p, "a")
	n.want(t, "import os\nx = 1", "")
	n.ends(t, "x = 2\nos.write(3, b'Z' * 10)\nwhile True:\n    pass", 10*time.Second, executor.StatusRuntimeError, executor.SessionRolledBack)
	n.want(t, "x", "1")
	if o := n.cell(t, "x = 2\nos.close(3)"); o.SessionState != executor.SessionRolledBack {
		t.Errorf("%+v, %v", o.Result, o.err)
	}
	n.want(t, "x", "1")
	n.want(t, "os.close(1)\nos.close(2)\nos.close(0)\nx = 3", "")
	if o := n.cell(t, "print('here')\nx"); o.stdout != "here\n" || o.Value != "3" {
		t.Errorf("%+v, %q, %v", o.Result, o.stdout, o.err)
	}
	// An end that is none: the session is stopped all the same, and lost at the latest when it does not take the next cell.
	o := n.cell(t, `
end = b'{"exit_code":0,"value":"7","has_value":true,"figure_bytes":0,"notes":[],"problem":null,"memory":false,"misplaced":false}'
os.write(3, b'X' + len(end).to_bytes(4, 'big') + end)
while True:
    pass
`)
	if o.Value != "7" {
		t.Errorf("%+v, %v", o.Result, o.err)
	}
	if o := n.cell(t, "x"); o.status() != executor.StatusSessionLost || o.SessionState != executor.SessionLost {
		t.Errorf("%s, %s", o.status(), o.SessionState)
	}
}

func TestSessionClosedWhileACellRuns(t *testing.T) {
	t.Parallel()
	p := start(t, nil)
	n := openSession(t, p, "a")
	done, begun := make(chan outcome, 1), make(chan struct{})
	go func() { done <- n.cellSeen(t, "print('begun')\nwhile True:\n    pass", begun) }()
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := p.ForkSession(ctx, "a", "b"); err == nil {
		t.Error("a busy session was forked")
	}
	if existed, err := p.CloseSession(t.Context(), "a"); !existed || err != nil {
		t.Errorf("close: %t, %v", existed, err)
	}
	select {
	case o := <-done:
		if o.SessionState != executor.SessionLost {
			t.Errorf("%s, %s", o.status(), o.SessionState)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the cell goes on")
	}
}
