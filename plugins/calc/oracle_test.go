package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	oracleSeed  = flag.Uint64("oracle.seed", 20261129, "seed of the random expressions")
	oracleCount = flag.Int("oracle.count", 20200, "number of random expressions")
)

// oracleProgram evaluates each line, a JSON string, as the calculator's model
// does, and answers with [text, "Type: message"].
const oracleProgram = `
import sys, json, math, warnings
warnings.simplefilter("ignore")
names = {k: getattr(math, k) for k in dir(math) if k[0] != "_"}
names.update(abs=abs, min=min, max=max, round=round, pow=pow, math=math)
def text(v):
    if isinstance(v, float):
        if v.is_integer() and abs(v) < 1e15: return str(int(v))
        return format(v, ".12g")
    return str(v)
for line in sys.stdin:
    source = json.loads(line)
    try:
        answer = [text(eval(source, {"__builtins__": {}}, names)), ""]
    except SyntaxError as e:
        answer = ["", "SyntaxError: " + e.msg]
    except Exception as e:
        answer = ["", type(e).__name__ + ": " + str(e)]
    print(json.dumps(answer))
`

// python finds the interpreter of the checkout's own environment, or one on
// the path.
func python(t *testing.T) string {
	t.Helper()
	if own := "../../.venv/bin/python3"; exec.Command(own, "--version").Run() == nil {
		return own
	}
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal("python3 is needed to compare with: run make build, or install Python 3.11 or newer")
	}
	return path
}

type oracleAnswer [2]string

// askPython has CPython evaluate all expressions in one process.
func askPython(t *testing.T, expressions []string) []oracleAnswer {
	t.Helper()
	return askWith(t, oracleProgram, expressions)
}

// askWith hands expressions to a program, which gives a line for each.
func askWith(t *testing.T, program string, expressions []string) []oracleAnswer {
	t.Helper()
	var in bytes.Buffer
	for _, expression := range expressions {
		line, err := json.Marshal(expression)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := exec.CommandContext(t.Context(), python(t), "-I", "-B", "-c", program)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("ask python: %v", err)
	}
	var answers []oracleAnswer
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var answer oracleAnswer
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, answer)
	}
	if len(answers) != len(expressions) {
		t.Fatalf("%d answers to %d expressions", len(answers), len(expressions))
	}
	return answers
}

// TestOracle compares texts and complaints with CPython's, for expressions in
// which nothing hangs on the last bit of a C library's function.
func TestOracle(t *testing.T) {
	g := &generator{Rand: rand.New(rand.NewPCG(*oracleSeed, 1)), exact: true}
	expressions := make([]string, *oracleCount)
	for i := range expressions {
		expressions[i] = g.expression(1 + i%4)
	}
	compare(t, expressions, 4)
}

// TestOracleFunctions compares single calls of the functions that C libraries
// round in their own ways.
func TestOracleFunctions(t *testing.T) {
	g := &generator{Rand: rand.New(rand.NewPCG(*oracleSeed, 2))}
	expressions := make([]string, *oracleCount/2)
	for i := range expressions {
		expressions[i] = g.call(1)
	}
	compare(t, expressions, 4)
}

// compare leaves out what the calculator refuses for its size: CPython would
// compute it for hours. One in so many must have a value.
func compare(t *testing.T, expressions []string, oneIn int) {
	t.Helper()
	var asked []string
	var have []oracleAnswer
	for _, expression := range expressions {
		text, trouble := solve(t.Context(), t, expression)
		if !strings.Contains(trouble, "are computed") && !strings.Contains(trouble, "memory limit") && !strings.Contains(trouble, "text is longer") {
			asked, have = append(asked, expression), append(have, oracleAnswer{text, trouble})
		}
	}
	wrong, values := 0, 0
	same := agreement(t)
	for i, want := range askPython(t, asked) {
		if want[1] == "" {
			values++
		}
		if same(have[i], want) {
			continue
		}
		if wrong++; wrong <= 40 {
			t.Errorf("%s\n  have %.200q\n  want %.200q", asked[i], have[i], want)
		}
	}
	if t.Logf("%d of %d equal to CPython's, %d left out as too large", len(asked)-wrong, len(asked), len(expressions)-len(asked)); wrong > 0 {
		t.Errorf("%d of %d differ", wrong, len(asked))
	}
	if values < len(expressions)/oneIn {
		t.Errorf("%d of %d expressions have a value: too few to say anything", values, len(expressions))
	}
}

// agreement tells when two answers are the same. Complaints are compared by
// their words with CPython 3.11 alone: others word some differently. Which of
// several faults of syntax is told is not ours to copy.
func agreement(t *testing.T) func(have, want oracleAnswer) bool {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), python(t), "-I", "-B", "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.HasPrefix(string(out), "Python 3.11.")
	return func(have, want oracleAnswer) bool {
		haveType, _, _ := strings.Cut(have[1], ":")
		wantType, _, _ := strings.Cut(want[1], ":")
		if have[1] == "" || haveType == "SyntaxError" || !words {
			return haveType == wantType && sameText(have[0], want[0])
		}
		return have == want
	}
}

var inText = regexp.MustCompile(`\d+\.?\d*(e[+-]?\d+)?`)

// sameText takes floats that str() shows in full, inside tuples and complex
// numbers, for the same when 12 digits are.
func sameText(have, want string) bool {
	if have == want || !strings.ContainsAny(have, "[(j") {
		return have == want
	}
	a, b := inText.FindAllString(have, -1), inText.FindAllString(want, -1)
	if inText.ReplaceAllString(have, "#") != inText.ReplaceAllString(want, "#") || len(a) != len(b) {
		return false
	}
	for i := range a {
		x, errX := strconv.ParseFloat(a[i], 64)
		y, errY := strconv.ParseFloat(b[i], 64)
		if !strings.ContainsAny(a[i]+b[i], ".e") && a[i] != b[i] {
			return false
		}
		if errX != nil || errY != nil || math.Abs(x-y) > 1e-11*math.Abs(y) {
			return false
		}
	}
	return true
}

// generator makes random expressions.
type generator struct {
	*rand.Rand
	exact bool // without functions that C libraries round in their own ways
}

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

func (g *generator) number() string {
	switch g.IntN(12) {
	case 0:
		return fmt.Sprint(g.IntN(1000) - 500)
	case 1:
		return fmt.Sprint(g.Uint64())
	case 2:
		return fmt.Sprintf("%.3f", g.Float64()*20)
	case 3:
		return fmt.Sprintf("%ge%d", float64(g.IntN(100))/8, g.IntN(60)-30)
	case 4:
		return pick(g, "0", "1", "-1", "0.0", "-0.0", "1e308", "5e-324", "inf", "nan", "2.5", "0.5", "1.5", "-2.5")
	case 5:
		return pick(g, "pi", "e", "tau", "math.pi", "True", "False", "None")
	case 6:
		return pick(g, "2j", "(1+2j)", "1e3j", "0j", "-1.5j", "3.25J")
	case 7:
		return pick(g, "0xff", "0b1011", "0o17", "1_000", "0XFF", "1_0.5e1_0", ".5", "5.", "00", "0_0")
	}
	return fmt.Sprint(g.IntN(12))
}

func (g *generator) expression(depth int) string {
	if depth == 0 {
		return g.number()
	}
	sub := func() string { return g.expression(g.IntN(depth)) }
	switch g.IntN(14) {
	case 0, 1, 2, 3, 4:
		return sub() + " " + pick(g, "+", "-", "*", "/", "//", "%") + " " + sub()
	case 5:
		return "(" + sub() + ")" + pick(g, "**", " ** ", "&", "|", "^", "<<", ">>") + "(" + sub() + ")"
	case 6:
		return pick(g, "-", "+", "~", "not ", "--") + sub()
	case 7:
		return sub() + pick(g, " < ", " <= ", " == ", " != ", ">", ">=") + sub()
	case 8:
		return "(" + sub() + pick(g, " and ", " or ", " if ") + sub() + pick(g, " else ", " or ") + sub() + ")"
	case 9:
		return "(" + sub() + ")"
	case 10:
		return g.display(depth)
	}
	return g.call(depth)
}

func (g *generator) list(depth int, n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = g.expression(g.IntN(depth))
	}
	return strings.Join(items, ", ")
}

func (g *generator) display(depth int) string {
	switch g.IntN(4) {
	case 0:
		return "[" + g.list(depth, g.IntN(4)) + "]"
	case 1:
		return "(" + g.list(depth, 1+g.IntN(3)) + ",)"
	case 2:
		return "[" + g.list(depth, 2) + "] " + pick(g, "+", "*", "<", "==") + " " + pick(g, "3", "[1, 2]", "(1,)")
	}
	return g.expression(g.IntN(depth)) + pick(g, " in ", " not in ") + "[" + g.list(depth, g.IntN(4)) + "]"
}

func (g *generator) call(depth int) string {
	sub := func() string { return g.expression(g.IntN(depth)) }
	prefix := pick(g, "", "", "math.")
	kind := g.IntN(8)
	if g.exact && kind < 2 {
		return prefix + pick(g, "ceil", "degrees", "fabs", "floor", "isfinite", "isinf", "isnan", "isqrt", "modf", "frexp", "radians",
			"sqrt", "trunc", "ulp") + "(" + sub() + ")"
	}
	switch kind {
	case 0, 1:
		return prefix + pick(g, "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "degrees", "erf",
			"erfc", "exp", "exp2", "expm1", "fabs", "floor", "gamma", "isfinite", "isinf", "isnan", "isqrt", "lgamma", "log",
			"log10", "log1p", "log2", "modf", "frexp", "radians", "sin", "sinh", "sqrt", "tan", "tanh", "trunc", "ulp") + "(" + sub() + ")"
	case 2:
		if g.IntN(8) == 0 { // the sign of a NaN that was computed is the processor's affair
			return prefix + "copysign(" + sub() + ", " + g.number() + ")"
		}
		return prefix + pick(g, map[bool]string{true: "fmod", false: "atan2"}[g.exact], map[bool]string{true: "fmod", false: "log"}[g.exact], "nextafter", "pow", "remainder", "ldexp", "isclose") +
			"(" + sub() + ", " + sub() + ")"
	case 3:
		return prefix + pick(g, "comb", "perm", "gcd", "lcm") + "(" + g.small() + ", " + g.small() + ")"
	case 4:
		return pick(g, "fsum", "prod", "min", "max") + "([" + g.list(depth, g.IntN(4)) + "])"
	case 5:
		return pick(g, "min", "max", "hypot", "gcd", "lcm") + "(" + g.list(depth, 1+g.IntN(3)) + ")"
	case 6:
		return pick(g, "round("+sub()+", "+fmt.Sprint(g.IntN(8)-4)+")", "round("+sub()+")", "pow("+g.small()+", "+g.small()+", "+g.small()+")",
			"abs("+sub()+")", "factorial("+g.small()+")", "isqrt("+g.small()+")")
	}
	return pick(g, "dist([1, "+sub()+"], [2, "+sub()+"])", "isclose("+sub()+", "+sub()+", rel_tol=0.1)",
		"isclose("+sub()+", "+sub()+", abs_tol=2)", "prod(["+sub()+"], start="+sub()+")", "max("+sub()+", "+sub()+", key=abs)",
		"sqrt("+g.list(depth, g.IntN(3))+")", "perm("+g.small()+")", "pow(base=2, exp="+g.small()+")")
}

func (g *generator) small() string {
	return fmt.Sprint(g.IntN(80)-6) + pick(g, "", "", "", "", " * 1000003")
}
