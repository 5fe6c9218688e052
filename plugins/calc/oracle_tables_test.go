package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// tableCase is a line of CPython's tables: a name, a function, its argument and
// the correctly rounded result, with the floating-point flags that it raises.
type tableCase struct {
	name, function, argument string
	want                     float64
	flags                    []string
}

// TestPythonTables holds every function to the tables that an installed CPython
// tests its own math module with; distributions that pack its tests apart have
// none.
func TestPythonTables(t *testing.T) {
	seen := map[string]int{}
	for _, c := range append(realTable(t, tableFile(t, "math_testcases.txt")), complexTable(t, tableFile(t, "cmath_testcases.txt"))...) {
		if module[c.function] == nil {
			t.Errorf("%s: the calculator has no %s", c.name, c.function)
			continue
		}
		seen[c.function]++
		if fault := c.check(solve(t.Context(), t, "("+c.function+"("+c.argument+"),)")); fault != "" {
			t.Errorf("%s: %s(%s): %s", c.name, c.function, c.argument, fault)
		}
	}
	total := 0
	for _, n := range seen {
		total += n
	}
	if total < 700 || len(seen) < 18 {
		t.Errorf("%d cases of %d functions: too few for CPython's tables: %v", total, len(seen), seen)
	}
}

// tableFile finds a table in the standard library of the interpreter, where
// 3.12 and newer keep it one folder down.
func tableFile(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), python(t), "-I", "-B", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").Output()
	if err != nil {
		t.Fatal(err)
	}
	tests := filepath.Join(strings.TrimSpace(string(out)), "test")
	for _, path := range []string{filepath.Join(tests, name), filepath.Join(tests, "mathdata", name)} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Skipf("this interpreter was installed without its own tests: %s is not there (Debian's package is libpython3.11-testsuite)", name)
	return ""
}

// tableLines are the lines that are cases: fields before the arrow, and after it.
func tableLines(t *testing.T, path string) (lines [][2][]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "--")
		if before, after, ok := strings.Cut(line, "->"); ok {
			lines = append(lines, [2][]string{strings.Fields(before), strings.Fields(after)})
		}
	}
	return lines
}

func realTable(t *testing.T, path string) (cases []tableCase) {
	t.Helper()
	for _, l := range tableLines(t, path) {
		cases = append(cases, tableCase{l[0][0], l[0][1], l[0][2], number(t, l[1][0]), l[1][1:]})
	}
	return cases
}

// complexTable gives the cases whose argument and result are real, which is what
// the functions of math have in common with those of cmath.
func complexTable(t *testing.T, path string) (cases []tableCase) {
	t.Helper()
	for _, l := range tableLines(t, path) {
		name, function := l[0][0], l[0][1]
		if function == "rect" || function == "polar" || number(t, l[0][3]) != 0 || number(t, l[1][1]) != 0 {
			continue
		}
		c := tableCase{name, function, l[0][2], number(t, l[1][0]), l[1][2:]}
		if c.want == 0 { // on a branch cut the zero of cmath has another sign: sqrt(-0.0) is 0.0 there
			c.flags = append(c.flags, "ignore-sign")
		}
		cases = append(cases, c)
	}
	return cases
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// check says what is wrong with an answer, the text of a tuple of one.
func (c tableCase) check(text, trouble string) string {
	kind, _, _ := strings.Cut(trouble, ":")
	switch {
	case slices.Contains(c.flags, "invalid"), slices.Contains(c.flags, "divide-by-zero"):
		return unless(kind == "ValueError", "have %q, want a ValueError", text+trouble)
	case slices.Contains(c.flags, "overflow"):
		return unless(kind == "OverflowError", "have %q, want an OverflowError", text+trouble)
	case trouble != "":
		return trouble
	}
	have, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimPrefix(text, "("), ",)"), 64)
	if err != nil {
		return fmt.Sprintf("%q is not a tuple of one number", text)
	}
	want := c.want
	if slices.Contains(c.flags, "ignore-sign") {
		have, want = math.Abs(have), math.Abs(want)
	}
	ulps := 1.0
	if x, err := strconv.ParseFloat(c.argument, 64); err == nil && math.Abs(x) < 0x1p-1022 {
		ulps = 20 // the table is of the decimal argument, and a subnormal float is up to so far from it
	}
	return unless(near(have, want, ulps), "have %v, want %v", have, want)
}

func unless(ok bool, format string, args ...any) string {
	if ok {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// near takes floats that are at most so many units in the last place apart for
// the same; zeros have signs.
func near(have, want, ulps float64) bool {
	switch {
	case math.IsNaN(want):
		return math.IsNaN(have)
	case math.IsInf(want, 0):
		return have == want
	case want == 0:
		return have == 0 && math.Signbit(have) == math.Signbit(want)
	}
	ulp := math.Abs(want) - math.Nextafter(math.Abs(want), 0)
	return math.Abs(have-want) <= ulps*ulp
}
