package main

import (
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// lines joins lines of a program.
func lines(text ...string) string { return strings.Join(text, "\n") + "\n" }

func TestStatuses(t *testing.T) {
	p := start(t, nil)
	short := granted()
	short.Limits.Wall, short.Limits.CPU = time.Second, time.Second
	cpu := granted()
	cpu.Limits.CPU = time.Second
	small := granted()
	small.Limits.MemoryBytes = 128 << 20
	for _, tc := range []struct {
		name, code     string
		grant          executor.Grant
		status         executor.Status
		stdout, stderr string // the whole, and what it holds
		check          func(*testing.T, outcome)
	}{
		{name: "factor", code: "import sympy as sp\nprint(sp.factor(12))", status: executor.StatusOK, stdout: "12\n"},
		{name: "empty", code: "", status: executor.StatusOK},
		{name: "division", code: "print('row')\n1/0", status: executor.StatusRuntimeError, stdout: "row\n"},
		{name: "exit zero", code: "import sys\nprint('a')\nsys.exit(0)\nprint('b')", status: executor.StatusOK, stdout: "a\n"},
		{name: "exit three", code: "import sys\nsys.exit(3)", status: executor.StatusExitNonzero, check: func(t *testing.T, o outcome) {
			if o.ExitCode != 3 {
				t.Errorf("exit code %d, want 3", o.ExitCode)
			}
		}},
		{name: "exit text", code: "raise SystemExit('no solution')", status: executor.StatusExitNonzero, stderr: "no solution\n"},
		{name: "os._exit keeps output", code: "import os\nprint('kept')\nos._exit(0)", status: executor.StatusOK, stdout: "kept\n"},
		{name: "os._exit seven", code: "import os\nprint('kept', end='')\nprint()\nos._exit(7)", status: executor.StatusExitNonzero, stdout: "kept\n"},
		{name: "wall", code: "print('bound')\nwhile True: pass", grant: short, status: executor.StatusWallLimit, stdout: "bound\n"},
		{name: "wall in C", code: "from collections import deque\nfrom itertools import repeat\nprint('start')\ndeque(repeat(1), maxlen=0)", grant: short, status: executor.StatusWallLimit, stdout: "start\n"},
		{name: "stopped by itself", code: "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", grant: short, status: executor.StatusWallLimit},
		{name: "cpu", code: "while True: pass", grant: cpu, status: executor.StatusCPULimit},
		{name: "cpu, signal ignored", code: "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass", grant: cpu, status: executor.StatusCPULimit},
		{name: "memory at once", code: "x = [0] * (10 ** 11)", status: executor.StatusMemoryLimit},
		{name: "memory by and by", code: "b = []\nwhile True: b.append(bytearray(4 << 20))", grant: small, status: executor.StatusMemoryLimit},
		{name: "memory in NumPy", code: "import numpy as np\nnp.ones((250000, 250000))", status: executor.StatusMemoryLimit},
		{name: "memory caught", code: "try:\n    x = [0] * (10 ** 11)\nexcept MemoryError:\n    print('caught')", status: executor.StatusOK, stdout: "caught\n"},
		{name: "flood", code: "while True: print('spam ' * 100)", status: executor.StatusOutputLimit, stdout: "*"},
		{name: "fault", code: "import ctypes\nprint('before')\nctypes.string_at(0)", status: executor.StatusCrashed, stdout: "before\n", check: signal("SIGSEGV")},
		{name: "kills itself", code: "import os, signal\nprint('x')\nos.kill(os.getpid(), signal.SIGKILL)", status: executor.StatusCrashed, stdout: "x\n", check: signal("SIGKILL")},
		{name: "abort", code: "import os\nos.abort()", status: executor.StatusCrashed, check: signal("SIGABRT")},
		{name: "does not parse", code: "values = [1, 2\nprint(values)", status: executor.StatusCompileError},
		{name: "does not compile", code: "x = 1\nreturn x", status: executor.StatusCompileError},
		{name: "interrupt", code: "raise KeyboardInterrupt", status: executor.StatusRuntimeError},
		{name: "surrogate", code: `print('\ud83d')`, status: executor.StatusRuntimeError, check: func(t *testing.T, o outcome) {
			if !strings.Contains(o.Problem.Message, "surrogates not allowed") {
				t.Errorf("message %q", o.Problem.Message)
			}
		}},
		{name: "missing module", code: "import scipy", status: executor.StatusRuntimeError, check: func(t *testing.T, o outcome) {
			if o.Problem.Type != "ModuleNotFoundError" {
				t.Errorf("type %q", o.Problem.Type)
			}
		}},
		{name: "deep sum", code: "print(" + strings.Repeat("1+", 1399) + "1)", status: executor.StatusOK, stdout: "1400\n"},
		{name: "deep minus", code: "print(" + strings.Repeat("-", 150) + "1)", status: executor.StatusOK, stdout: "1\n"},
		{name: "too deep", code: strings.Repeat("~", 60000) + "1", status: executor.StatusCompileError},
		{name: "recursion", code: "def down(n): return down(n + 1)\ndown(0)", status: executor.StatusRuntimeError},
		{name: "thread pool", code: "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(4) as pool:\n    print(sum(pool.map(lambda k: k * k, range(10))))", status: executor.StatusOK, stdout: "285\n"},
		{name: "thread outlives the text", code: "import threading, time\ndef f():\n    time.sleep(0.1)\n    print('late')\nthreading.Thread(target=f).start()\nprint('early')", status: executor.StatusOK, stdout: "early\nlate\n"},
		{name: "atexit", code: "import atexit\natexit.register(print, 'bye')", status: executor.StatusOK, stdout: "bye\n"},
		{name: "stdin is empty", code: "input()", status: executor.StatusRuntimeError, check: func(t *testing.T, o outcome) {
			if o.Problem.Type != "EOFError" {
				t.Errorf("type %q", o.Problem.Type)
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := tc.grant
			if g.Grants == nil {
				g = granted()
			}
			begin := time.Now()
			o := run(t, p, tc.code, g)
			if o.status() != tc.status {
				t.Fatalf("status %v, want %v (%v, problem %+v, stderr %q, %+v)", o.status(), tc.status, o.err, o.Problem, o.stderr, o.Result)
			}
			if tc.stdout != "*" && o.stdout != tc.stdout {
				t.Errorf("stdout %q, want %q", o.stdout, tc.stdout)
			}
			if !strings.Contains(o.stderr, tc.stderr) {
				t.Errorf("stderr %q lacks %q", o.stderr, tc.stderr)
			}
			if tc.check != nil {
				tc.check(t, o)
			}
			if took := time.Since(begin); took > time.Minute { // no limit here is above 5 s; the rest is the machine's
				t.Errorf("took %v", took)
			}
		})
	}
}

func signal(name string) func(*testing.T, outcome) {
	return func(t *testing.T, o outcome) {
		t.Helper()
		if o.Signal != name {
			t.Errorf("signal %q, want %q", o.Signal, name)
		}
	}
}
