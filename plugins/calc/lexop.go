package main

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// operators, longest first. Those that no expression has are here so that the
// parser complains about the whole operator.
var operators = []string{
	"**=", "//=", ">>=", "<<=", "...", "**", "//", ">>", "<<", "<=", ">=", "==", "!=", ":=", "->",
	"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=",
	"+", "-", "*", "/", "%", "@", "<", ">", "&", "|", "^", "~", "(", ")", "[", "]", "{", "}", ",", ":", ".", ";", "=",
}

func (l *lexer) operator(r rune) bool {
	for _, op := range operators {
		if strings.HasPrefix(l.text[l.pos:], op) {
			return l.bracketed(op)
		}
	}
	return l.strange(r)
}

// bracketed emits op and keeps the account of open brackets.
func (l *lexer) bracketed(op string) bool {
	switch op {
	case "(", "[", "{":
		if len(l.open) == maxBrackets {
			return l.fault(1, "too many nested parentheses")
		}
		l.emit(tOp, 1)
		l.open = append(l.open, l.tokens[len(l.tokens)-1])
		return true
	case ")", "]", "}":
		if len(l.open) == 0 {
			return l.fault(1, "unmatched '%s'", op)
		}
		last := l.open[len(l.open)-1]
		if want := strings.IndexByte("([{", last.text[0]); want != strings.IndexByte(")]}", op[0]) {
			return l.fault(1, "closing parenthesis '%s' does not match opening parenthesis '%s'", op, last.text)
		}
		l.open = l.open[:len(l.open)-1]
	}
	return l.emit(tOp, len(op))
}

// advice says what to write for a sign of ordinary mathematics.
var advice = map[rune]string{
	'×': "*", '·': "*", '⋅': "*", '∙': "*", '÷': "/", '∕': "/", '−': "-", '–': "-", '—': "-", '√': "sqrt()", '∞': "inf",
	'²': "**2", '³': "**3", '≤': "<=", '≥': ">=", '≠': "!=", '’': "'", '，': ",", '（': "(", '）': ")",
}

// strange complains about a character that begins no token.
func (l *lexer) strange(r rune) bool {
	size := max(1, utf8.RuneLen(r))
	switch {
	case r == '!':
		return l.fault(size, "invalid syntax (write factorial(n) for n!)")
	case r == '\\':
		return l.fault(size, "unexpected character after line continuation character")
	case advice[r] != "":
		return l.fault(size, "invalid character '%c' (U+%04X); write %s", r, r, advice[r])
	case !unicode.IsPrint(r):
		return l.fault(size, "invalid non-printable character U+%04X", r)
	case r < utf8.RuneSelf:
		return l.fault(size, "invalid syntax")
	}
	return l.fault(size, "invalid character '%c' (U+%04X)", r, r)
}
