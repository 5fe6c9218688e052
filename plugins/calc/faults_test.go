package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/executor"
)

func TestComplaints(t *testing.T) {
	for expression, want := range map[string]string{
		"":                            "1:1 invalid syntax",
		"1 +":                         "1:4 invalid syntax",
		"5!":                          "1:2 invalid syntax (write factorial(n) for n!)",
		"6÷2":                         "1:2 invalid character '÷' (U+00F7); write /",
		"15% of 80":                   "1:8 invalid syntax",
		"(1 2)":                       "1:4 invalid syntax. Perhaps you forgot a comma?",
		"(1":                          "1:1 '(' was never closed",
		"1)":                          "1:2 unmatched ')'",
		"(1]":                         "1:3 closing parenthesis ']' does not match opening parenthesis '('",
		"01":                          "1:1 leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers",
		"1__0":                        "1:1 invalid decimal literal",
		"1_":                          "1:1 invalid decimal literal",
		"1._5":                        "1:1 invalid decimal literal",
		"1e5_":                        "1:1 invalid decimal literal",
		"2x":                          "1:1 invalid decimal literal (write 2*x for a product)",
		"2x_1":                        "1:1 invalid decimal literal (write 2*x_1 for a product)",
		"3x**2 + 1":                   "1:1 invalid decimal literal (write 3*x for a product)",
		"2π":                          "1:1 invalid decimal literal (write 2*π for a product)",
		"2" + strings.Repeat("x", 25): "1:1 invalid decimal literal (write * between the factors of a product)",
		"2 pi":                        "1:3 invalid syntax (write 2*pi for a product)",
		"sin(30) cos(1)":              "1:9 invalid syntax (write (...)*cos for a product)",
		"0b2":                         "1:1 invalid digit '2' in binary literal",
		"0o8":                         "1:1 invalid digit '8' in octal literal",
		"0x":                          "1:1 invalid hexadecimal literal",
		"0xg":                         "1:1 invalid hexadecimal literal",
		"1jx":                         "1:1 invalid imaginary literal (write 1j*x for a product)",
		"'abc":                        "1:1 unterminated string literal (detected at line 1)",
		"'''abc":                      "1:1 unterminated triple-quoted string literal (detected at line 1)",
		"1\n2":                        "2:1 invalid syntax (one expression only)",
		"1 \\ 2":                      "1:3 unexpected character after line continuation character",
		"€":                           "1:1 invalid character '€' (U+20AC)",
		"1\u200b":                     "1:2 invalid non-printable character U+200B",
		"$":                           "1:1 invalid syntax",
		"1; 2":                        "1:2 invalid syntax",
		"x := 5":                      "1:3 invalid syntax",
		"import os":                   "1:1 invalid syntax",
		"1 if 2":                      "1:1 expected 'else' after 'if' expression",
		"max(key=1, 2)":               "1:12 positional argument follows keyword argument",
		"f(a=1, a=2)":                 "1:8 keyword argument repeated: a",
		"(*1)":                        "1:2 cannot use starred expression here",
		"(1 := 2)":                    "1:2 cannot use assignment expressions with this",
		"(yield)":                     "1:2 'yield' outside function",
		"await x":                     "1:1 'await' outside function",
		"a.1":                         "1:2 invalid syntax",
		"a.":                          "1:3 invalid syntax",
		"a[]":                         "1:3 invalid syntax",
		"a[1:2:3:4]":                  "1:8 invalid syntax",
		"1 not 2":                     "1:3 invalid syntax",
		"lambda x y: 1":               "1:10 invalid syntax",
		"1\x00":                       "1:1 source code string cannot contain null bytes",
		"1\xff":                       "1:1 (unicode error) 'utf-8' codec can't decode byte 0xff in position 1",
		strings.Repeat("9", 4301):     "1:1 Exceeds the limit (4300 digits) for integer string conversion: value has 4301 digits; use sys.set_int_max_str_digits() to increase the limit - Consider hexadecimal for huge integer literals to avoid decimal conversion limits.",
	} {
		_, err := calculator{}.Parse(t.Context(), executor.Source{Code: []byte(expression)})
		var fault *executor.CompileError
		if !errors.As(err, &fault) {
			t.Errorf("%.40q: %v", expression, err)
			continue
		}
		if have := fmt.Sprintf("%d:%d %s", fault.Line, fault.Column, fault.Message); have != want || fault.Type != "SyntaxError" {
			t.Errorf("%.40q: %s, want %s", expression, have, want)
		}
	}
}

// TestRefusedSyntaxParses: what the policy refuses has a tree, and the evaluator
// refuses it, too.
func TestRefusedSyntaxParses(t *testing.T) {
	for expression, want := range map[string]string{
		"lambda *a, b=1, **c: a": "Lambda", "lambda: 1": "Lambda", "1 if 0 else lambda: 2": "Lambda",
		"[x for x in [1] if x if 1]": "ListComp", "{x for x, y in z}": "SetComp", "{x: 1 for *x, in z}": "DictComp",
		"(x async for x in z)": "GeneratorExp", "fsum(x for x in [1])": "GeneratorExp", "(x := 5)": "NamedExpr", "[y := 1]": "NamedExpr",
		"[*[1]]": "Starred", "max(*[1])": "Starred", "max(1, **{})": "Starred", "max(key=abs, *[1])": "Starred",
		"[1][0]": "Subscript", "[1][1:2]": "Subscript", "[1][::, 2]": "Subscript", "{1, 2}": "Set", "{}": "Dict",
		"{1: 2, **{}}": "Dict", "{1: 2,}": "Dict", "'a' \"b\"": "Str", "u'''a\nb'''": "Str", `rb'\''`: "Bytes", "f'{1}'": "JoinedStr",
		"1 is 1": "is", "1 is not 1": "is not",
	} {
		if _, trouble := solve(t.Context(), t, expression); trouble != "TypeError: the calculator does not evaluate "+want {
			t.Errorf("%s: %s, want %s", expression, trouble, want)
		}
	}
}

// TestPlacesOfFaults: a complaint says where.
func TestPlacesOfFaults(t *testing.T) {
	for expression, want := range map[string]string{
		"1 + sqrt(-1)":      "1:5 ValueError: math domain error",
		"2 * 3 / 0":         "1:7 ZeroDivisionError: division by zero",
		"(\n 1 +\n foo)":    "3:2 NameError: name 'foo' is not defined",
		"1 < 2 < [1]":       "1:7 TypeError: '<' not supported between instances of 'int' and 'list'",
		"2 ** 0 ** -1":      "1:8 ZeroDivisionError: 0.0 cannot be raised to a negative power",
		"math.foo":          "1:1 AttributeError: module 'math' has no attribute 'foo'",
		"math":              "1:1 NameError: name 'math' is not defined",
		"(1).real":          "1:1 AttributeError: the calculator knows no attribute 'real'",
		"max(1, 2, key=3)":  "1:1 TypeError: 'int' object is not callable",
		"[1] @ [2]":         "1:5 TypeError: unsupported operand type(s) for @: 'list' and 'list'",
		"10**5000 + 10**-1": "1:10 OverflowError: int too large to convert to float",
	} {
		program, err := parse(t, expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		_, err = program.Run(t.Context(), executor.Grant{}, nil)
		var fault *executor.RuntimeError
		if !errors.As(err, &fault) {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		if have := fmt.Sprintf("%d:%d %s: %s", fault.Line, fault.Column, fault.Type, fault.Message); have != want {
			t.Errorf("%s: %s, want %s", expression, have, want)
		}
	}
}
