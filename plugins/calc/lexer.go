package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

type tokenKind uint8

const (
	tEnd tokenKind = iota
	tName
	tKeyword
	tNumber
	tText  // a string literal; prefix holds its letters in lower case
	tOp    // operator or bracket
	tFault // text that is no token; text says why
)

// token is one word of the expression.
type token struct {
	kind   tokenKind
	text   string
	prefix string
	at     span
}

// maxBrackets is how many brackets may be open at once, as in CPython.
const maxBrackets = 200

// lexer turns text into tokens. A fault is itself the last token, so that the
// parser reports whichever comes first: its own complaint or the lexer's.
type lexer struct {
	text   string
	pos    int // bytes
	line   int
	col    int // characters
	open   []token
	tokens []token
}

// lex splits text, which must be valid UTF-8, into tokens; the last one is
// tEnd or tFault.
func lex(text string) []token {
	l := &lexer{text: text, line: 1}
	for l.next() {
	}
	return l.tokens
}

// next reads one token and tells whether there may be more.
func (l *lexer) next() bool {
	if !l.skipSpace() {
		return false
	}
	if l.pos == len(l.text) {
		return l.end()
	}
	r, _ := utf8.DecodeRuneInString(l.text[l.pos:])
	switch {
	case isDigit(r), r == '.' && l.pos+1 < len(l.text) && isDigit(rune(l.text[l.pos+1])):
		return l.number()
	case r == '"' || r == '\'':
		return l.quoted("")
	case isNameStart(r):
		return l.word()
	}
	return l.operator(r)
}

// peek is the byte n places on, or 0.
func (l *lexer) peek(n int) byte {
	if l.pos+n < len(l.text) {
		return l.text[l.pos+n]
	}
	return 0
}

// advance moves over n bytes and gives their span.
func (l *lexer) advance(n int) span {
	at := span{line: l.line, col: l.col}
	for _, r := range l.text[l.pos : l.pos+n] {
		l.col++
		if r == '\n' {
			l.line, l.col = l.line+1, 0
		}
	}
	l.pos += n
	at.endLine, at.endCol = l.line, l.col
	return at
}

func (l *lexer) emit(k tokenKind, n int) bool {
	text := l.text[l.pos : l.pos+n]
	l.tokens = append(l.tokens, token{kind: k, text: text, at: l.advance(n)})
	return true
}

// fault ends the tokens with a complaint about the next n bytes.
func (l *lexer) fault(n int, format string, args ...any) bool {
	at := l.advance(n)
	return l.faultAt(at, format, args...)
}

func (l *lexer) faultAt(at span, format string, args ...any) bool {
	l.tokens = append(l.tokens, token{kind: tFault, text: fmt.Sprintf(format, args...), at: at})
	return false
}

func (l *lexer) end() bool {
	at := l.advance(0)
	if n := len(l.open); n > 0 {
		first := l.open[n-1]
		return l.faultAt(first.at, "'%s' was never closed", first.text)
	}
	l.tokens = append(l.tokens, token{kind: tEnd, at: at})
	return false
}

// skipSpace moves over blanks, comments and line ends that end no statement. It
// is false when the expression ends here.
func (l *lexer) skipSpace() bool {
	for l.pos < len(l.text) {
		switch c := l.text[l.pos]; {
		case strings.IndexByte(" \t\f\r", c) >= 0:
			l.advance(1)
		case c == '#':
			l.comment()
		case c == '\n' && (len(l.open) > 0 || len(l.tokens) == 0):
			l.advance(1)
		case c == '\n':
			return l.lineEnd()
		case !l.joinedLine():
			return true
		}
	}
	return true
}

// joinedLine moves over a backslash at the end of a line.
func (l *lexer) joinedLine() bool {
	rest := l.text[l.pos:]
	for _, mark := range []string{"\\\n", "\\\r\n"} {
		if strings.HasPrefix(rest, mark) {
			l.advance(len(mark))
			return true
		}
	}
	return false
}

func (l *lexer) comment() {
	n := strings.IndexByte(l.text[l.pos:], '\n')
	if n < 0 {
		n = len(l.text) - l.pos
	}
	l.advance(n)
}

// lineEnd ends the expression; anything but blanks and comments behind it is a
// second statement.
func (l *lexer) lineEnd() bool {
	at := l.advance(0)
	for l.pos < len(l.text) {
		switch c := l.text[l.pos]; c {
		case ' ', '\t', '\f', '\r', '\n':
			l.advance(1)
		case '#':
			l.comment()
		default:
			return l.fault(0, "invalid syntax (one expression only)")
		}
	}
	l.tokens = append(l.tokens, token{kind: tEnd, at: at})
	return false
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isNameStart(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) }

func isNamePart(r rune) bool {
	return isNameStart(r) || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc)
}

var keywords = map[string]bool{
	"False": true, "None": true, "True": true, "and": true, "as": true, "assert": true, "async": true,
	"await": true, "break": true, "class": true, "continue": true, "def": true, "del": true, "elif": true,
	"else": true, "except": true, "finally": true, "for": true, "from": true, "global": true, "if": true,
	"import": true, "in": true, "is": true, "lambda": true, "nonlocal": true, "not": true, "or": true,
	"pass": true, "raise": true, "return": true, "try": true, "while": true, "with": true, "yield": true,
}

// word reads a name, a keyword or the prefix of a string. Names are folded to
// NFKC, as Python folds them: what is judged is what is looked up.
func (l *lexer) word() bool {
	n := strings.IndexFunc(l.text[l.pos:], func(r rune) bool { return !isNamePart(r) })
	if n < 0 {
		n = len(l.text) - l.pos
	}
	text := l.text[l.pos : l.pos+n]
	if c := l.peek(n); (c == '"' || c == '\'') && isPrefix(text) {
		return l.quoted(text)
	}
	kind := tName
	if keywords[text] {
		kind = tKeyword
	} else {
		text = norm.NFKC.String(text)
	}
	l.tokens = append(l.tokens, token{kind: kind, text: text, at: l.advance(n)})
	return true
}

func isPrefix(text string) bool {
	switch strings.ToLower(text) {
	case "r", "u", "b", "f", "br", "rb", "fr", "rf":
		return true
	}
	return false
}

// quoted reads a string literal. Its content is of no interest: the calculator
// knows no text, and the policy is told that one is there.
func (l *lexer) quoted(prefix string) bool {
	start := l.pos + len(prefix)
	quote := l.text[start : start+1]
	long := strings.HasPrefix(l.text[start:], strings.Repeat(quote, 3))
	if long {
		quote = strings.Repeat(quote, 3)
	}
	for i := start + len(quote); i < len(l.text); i++ {
		switch {
		case l.text[i] == '\\':
			i++
		case l.text[i] == '\n' && !long:
			i = len(l.text)
		case strings.HasPrefix(l.text[i:], quote):
			text := l.text[l.pos : i+len(quote)]
			at := l.advance(len(text))
			l.tokens = append(l.tokens, token{kind: tText, text: text, prefix: strings.ToLower(prefix), at: at})
			return true
		}
	}
	what := "unterminated string literal (detected at line %d)"
	if long {
		what = "unterminated triple-quoted string literal (detected at line %d)"
	}
	return l.fault(len(prefix)+len(quote), what, l.line)
}
