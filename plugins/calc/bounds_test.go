package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// parse gives the program of an expression, or the error.
func parse(t testing.TB, expression string) (executor.Program, error) {
	t.Helper()
	return calculator{}.Parse(t.Context(), executor.Source{ID: "t", Language: languageID, Code: []byte(expression)})
}

// TestLongChainsAreNotDeep: what has 20,000 links is flat, and its tree is so.
func TestLongChainsAreNotDeep(t *testing.T) {
	const n = 20000
	for name, c := range map[string]struct{ code, want string }{
		"sum":         {"1" + strings.Repeat("+1", n), "20001"},
		"mixed":       {"1" + strings.Repeat("-2+1", n), "-19999"},
		"product":     {"1" + strings.Repeat("*1", n), "1"},
		"power":       {"2" + strings.Repeat("**1", n), "2"},
		"minus":       {strings.Repeat("-", n) + "1", "1"},
		"not":         {strings.Repeat("not ", n) + "1", "True"},
		"comparison":  {"1" + strings.Repeat("<=1", n), "True"},
		"and":         {"1" + strings.Repeat(" and 1", n), "1"},
		"conditional": {strings.Repeat("1 if 0 else ", n) + "2", "2"},
		"list":        {"max([" + strings.Repeat("1,", n) + "3])", "3"},
		"brackets":    {strings.Repeat("(", maxBrackets) + "7" + strings.Repeat(")", maxBrackets), "7"},
	} {
		program, err := parse(t, c.code)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if depth := program.Tree().Depth; depth > 4 {
			t.Errorf("%s: depth %d", name, depth)
		}
		if res, err := program.Run(t.Context(), executor.Grant{}, nil); err != nil || res.Value != c.want {
			t.Errorf("%s = %q, %v, want %s", name, res.Value, err, c.want)
		}
	}
}

func TestDeepTreesAreRefused(t *testing.T) {
	const n = 20000
	for name, code := range map[string]string{
		"attributes": "a" + strings.Repeat(".b", n),
		"calls":      "a" + strings.Repeat("()", n),
		"indexes":    "a" + strings.Repeat("[0]", n),
		"lambdas":    strings.Repeat("lambda:", n) + "1",
		"powers":     "2" + strings.Repeat("**-1", n),
		"clauses":    "[1 " + strings.Repeat("for a in 1 if 1 ", n) + "]",
	} {
		_, err := parse(t, code)
		if name == "clauses" { // flat
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !errors.Is(err, executor.ErrTreeTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, trouble := solve(t.Context(), t, strings.Repeat("(", maxBrackets+1)+"7"+strings.Repeat(")", maxBrackets+1)); trouble != "SyntaxError: too many nested parentheses" {
		t.Error(trouble)
	}
	if _, err := parse(t, strings.Repeat(" ", maxSource+1)); !errors.Is(err, executor.ErrTreeTooLarge) {
		t.Error(err)
	}
}

// TestHeavyWorkIsBounded: the heaviest that the bounds let through takes a second
// or two of processor time at most. Without the bounds it would take minutes, or
// all memory; the context is there to end the test then.
func TestHeavyWorkIsBounded(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Minute, executor.ErrWall)
	defer cancel()
	for _, expression := range []string{
		"factorial(71000) % 7", "comb(1048570, 524285) % 7", "comb(2**1000, 1000) % 7", "perm(10**6, 50000) % 7",
		"gcd(3**600000, 7**370000)", "lcm(3**300000, 7**180000) % 11", "3**660000 // 7**100000 % 10", "isqrt(3**660000) % 10",
		"prod([3] * 660000) % 10", "fsum([0.1] * 10**6)", "max([0.5] * 10**6)", "([0] * 10**6) == ([0] * 10**6)",
		"pow(3, -1, 2**1000000 + 1) % 10", "hypot(1e308, 1e-308)", "gamma(-170.5)", "sin(1.7e308)", "round(1 << 1000000, -300000) % 10",
		"1 << 1048575 > 0", "(1 << 1048570) / 3 ** 661500 < 1e99", "log(1 << 1048575)",
	} {
		begin := time.Now()
		text, trouble := solve(ctx, t, expression)
		if trouble != "" {
			t.Errorf("%s: %s", expression, trouble)
		}
		t.Logf("%s = %s (%v)", expression, text, time.Since(begin))
	}
}

// TestTooLargeIsNotComputed: each is refused at once, whatever it asks for.
func TestTooLargeIsNotComputed(t *testing.T) {
	for _, expression := range []string{
		"9**9**9", "(((6**60)**60)**60)**60", "2**2**2**2**2**2", "1 << 1048576", "1 << 10**30", "factorial(71500)", "factorial(3000000)",
		"factorial(2**62)", "comb(4 * 10**6, 2 * 10**6)", "comb(2**70, 2**62)", "perm(10**9, 10**8)", "perm(2**70, 2**60)",
		"prod([10**6] * 10**5)", "prod([2**600000, 2**600000])", "2**1000000 * 2**1000000", "lcm(3**600000, 7**370000)", "pow(7, 10**8)",
		"-2 ** 1048576", "~(-(2**1048575) * 2)",
	} {
		text, trouble := solve(t.Context(), t, expression)
		if text != "" || !strings.Contains(trouble, "OverflowError: integer result would have about") {
			t.Errorf("%s = %.40s %s", expression, text, trouble)
		}
	}
	for _, expression := range []string{"[0] * 10**8", "[0] * 10**11", "[0] * 10**40", "([0] * 10**6 + [0] * 10**6) * 4", "0" + strings.Repeat("+(1 << 1000000)", 600)} {
		if text, trouble := solve(t.Context(), t, expression); text != "" || trouble != executor.ErrMemory.Error() && !strings.Contains(trouble, "index-sized") {
			t.Errorf("%.40s = %.40s %s", expression, text, trouble)
		}
	}
}

func TestTextIsBounded(t *testing.T) {
	for expression, want := range map[string]string{
		"10**4299":                "",
		"10**4300":                "ValueError: Exceeds the limit (4300 digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit",
		"-10**4300":               "ValueError: Exceeds the limit (4300 digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit",
		"[10**5000]":              "ValueError: Exceeds the limit (4300 digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit",
		"[[0] * 1000] * 1000":     "OverflowError: the result's text is longer than 262144 bytes",
		"10**5000 % 7":            "",
		strings.Repeat("9", 4300): "",
	} {
		if text, trouble := solve(t.Context(), t, expression); trouble != want || (text == "") != (want != "") {
			t.Errorf("%.40s: %.40s %s", expression, text, trouble)
		}
	}
}

// TestRunEndsWithItsContext: every loop looks at the context.
func TestRunEndsWithItsContext(t *testing.T) {
	for _, expression := range []string{
		"pow(3, 1 << 1000000, (1 << 1000000) + 1)", "([[0] * 10**6] * 10**6) == ([[0] * 10**6] * 10**6)",
		"([[0] * 1000] * 10**6) in [[[0] * 1000] * 10**6]", "1" + strings.Repeat("+1", 5000),
	} {
		program, err := parse(t, expression)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(20*time.Millisecond, func() { cancel(executor.ErrWall) })
		if len(expression) > 1000 {
			cancel(executor.ErrWall)
		}
		begin := time.Now()
		if _, err := program.Run(ctx, executor.Grant{}, nil); !errors.Is(err, executor.ErrWall) {
			t.Errorf("%.50s: %v", expression, err)
		}
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("%.50s ended after %v", expression, took)
		}
	}
}

func TestMemoryLimitOfTheGrantHolds(t *testing.T) {
	program, err := parse(t, "fsum([0.5] * 100000)")
	if err != nil {
		t.Fatal(err)
	}
	g := executor.Grant{Limits: executor.Limits{MemoryBytes: 1 << 20}}
	if _, err := program.Run(t.Context(), g, nil); !errors.Is(err, executor.ErrMemory) {
		t.Error(err)
	}
	if res, err := program.Run(t.Context(), executor.Grant{}, nil); err != nil || res.Value != "50000" {
		t.Error(res.Value, err)
	}
}

func TestParseEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(executor.ErrCancelled)
	if _, err := (calculator{}).Parse(ctx, executor.Source{Code: []byte("1")}); !errors.Is(err, executor.ErrCancelled) {
		t.Error(err)
	}
}

// FuzzSolve: no text makes a panic, an internal error, a tree that is no JSON
// or a run without an end.
func FuzzSolve(f *testing.F) {
	for _, line := range readLines(f, "testdata/benign.tsv") {
		expression, _, _ := strings.Cut(line, "\t")
		f.Add(expression)
	}
	for _, seed := range []string{
		"f'{1}'", "lambda *a, b=1, **c: a", "{1: 2, **a}", "[x for x in y if z]", "a[1:2, ::3]", "(x := 5)", "not a in b is not c",
		"max(*a, key=b, **c)", "0x_f + 1__0", "1e", "1_", "'", "\"\"\"", "\\\n1", "(1\n+2)", "1 if 2", "5!", "6÷2", "\x00", "\xff", "...", "$", "1 #",
		"(yield)", "await x", "01", "0b2", "0o8", "1.e5j", "]", "(]", "x.1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Second, executor.ErrWall)
		defer cancel()
		begin := time.Now()
		solve(ctx, t, expression)
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("took %v", took)
		}
	})
}
