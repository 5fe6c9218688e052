package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

func violation(line, column, endLine, endColumn int) gateway.Violation {
	return gateway.Violation{
		Rule: "python/import", Level: "error", Message: "os may not be imported", Hint: "use math",
		Line: line, Column: column, EndLine: endLine, EndColumn: endColumn,
	}
}

func TestShowDecision(t *testing.T) {
	for name, c := range map[string]struct {
		code string
		v    gateway.Violation
		want string
	}{
		"one word":    {"x = 1\nimport os\n", violation(2, 8, 2, 10), "  2 | import os\n    |        ^^\n"},
		"tab":         {"\timport os", violation(1, 9, 1, 11), "  1 | \timport os\n    | \t       ^^\n"},
		"many lines":  {"f(\n1)", violation(1, 1, 2, 3), "  1 | f(\n    | ^^\n"},
		"no end":      {"import os", violation(1, 1, 0, 0), "  1 | import os\n    | ^^^^^^^^^\n"},
		"beyond":      {"a", violation(1, 9, 1, 12), "  1 | a\n    |  ^\n"},
		"characters":  {"é = os", violation(1, 5, 1, 7), "  1 | é = os\n    |     ^^\n"},
		"escapes":     {"'\x1b[2J'; os", violation(1, 9, 1, 11), "  1 | '\uFFFD[2J'; os\n    |         ^^\n"},
		"not UTF-8":   {"\xff os", violation(1, 3, 1, 5), "  1 | \uFFFD os\n    |   ^^\n"},
		"return":      {"import os\r\n", violation(1, 8, 1, 10), "  1 | import os\n    |        ^^\n"},
		"line 12":     {strings.Repeat("\n", 11) + "os", violation(12, 1, 12, 3), "  12 | os\n     | ^^\n"},
		"far right":   {strings.Repeat("x", 300) + "os", violation(1, 301, 1, 303), "xos\n    | " + strings.Repeat(" ", 198) + "^^\n"},
		"no such row": {"a", violation(7, 1, 7, 2), "p.py:7:1: error: os may not be imported (python/import)\n  hint: use math\n"},
	} {
		var out strings.Builder
		ans := gateway.Answer{Decision: &gateway.Decision{Violations: []gateway.Violation{c.v}, Revision: "r1", Profile: "solve"}}
		if err := showDecision(&out, "p.py", []byte(c.code), ans, false); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: got\n%s\nwant in it\n%s", name, out.String(), c.want)
		}
		if !strings.HasSuffix(out.String(), "p.py: refused by policy r1, profile solve\n") {
			t.Errorf("%s: no verdict at the end of\n%s", name, out.String())
		}
	}
}

func TestColoursAreOnlyThereWhenAsked(t *testing.T) {
	ans := gateway.Answer{Decision: &gateway.Decision{Violations: []gateway.Violation{violation(1, 1, 1, 2)}}}
	for _, color := range []bool{false, true} {
		var out strings.Builder
		if err := showDecision(&out, "p.py", []byte("os"), ans, color); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "\x1b["); got != color {
			t.Errorf("colour asked: %v, given: %v", color, got)
		}
	}
}

// A policy's message, a rule's hint and a file's name are shown, and do nothing.
func TestWhatIsShownDoesNotSteerATerminal(t *testing.T) {
	v := violation(1, 1, 1, 2)
	v.Message, v.Hint = "m\x1b]0;title\a\x1b[2J", "h\u202eh\r\x9b1A"
	ans := gateway.Answer{Decision: &gateway.Decision{Violations: []gateway.Violation{v}}}
	for _, color := range []bool{false, true} {
		var out strings.Builder
		if err := showDecision(&out, "p\x1b[1A.py", []byte("os"), ans, color); err != nil {
			t.Fatal(err)
		}
		left := strings.NewReplacer(red, "", bold, "", plain, "").Replace(out.String())
		if i := strings.IndexFunc(left, func(r rune) bool { return r != '\n' && steers(r) }); i >= 0 || strings.Contains(left, "\x9b") {
			t.Errorf("colour %v: %q", color, out.String())
		}
		if !strings.Contains(left, `\x1b]0;title`) {
			t.Errorf("the message is not told: %q", left)
		}
	}
}

func TestErrorsDoNotSteerATerminal(t *testing.T) {
	for _, err := range []error{failed(errors.New("custom/\x1b[2J.rego: it is no file")), errors.New("unknown flag: --\x1b[2J")} {
		var out strings.Builder
		(&app{stderr: &out}).status(err)
		if strings.Contains(out.String(), "\x1b") || !strings.Contains(out.String(), `\x1b[2J`) {
			t.Errorf("%q", out.String())
		}
	}
}
