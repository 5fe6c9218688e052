package main

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// number reads a numeric literal. Its value is made by the parser.
func (l *lexer) number() bool {
	if l.peek(0) == '0' {
		switch l.peek(1) | 0x20 {
		case 'x':
			return l.radix("hexadecimal", "0123456789abcdef")
		case 'o':
			return l.radix("octal", "01234567")
		case 'b':
			return l.radix("binary", "01")
		}
	}
	return l.decimal()
}

// digits counts the digits of set from byte i on, with single underscores
// between them; bad tells of an underscore out of place.
func (l *lexer) digits(i int, set string) (n int, bad bool) {
	start := i
	for ; ; i++ {
		c := l.peek(i)
		switch {
		case c >= 'A' && c <= 'F':
			c |= 0x20
		case c == '_':
			if d := l.peek(i+1) | 0x20; d == 0x20 || strings.IndexByte(set, d) < 0 {
				return i - start, true
			}
			continue
		}
		if c == 0 || strings.IndexByte(set, c) < 0 {
			return i - start, false
		}
	}
}

// radix reads a literal with a prefix such as 0x.
func (l *lexer) radix(name, set string) bool {
	n, bad := l.digits(2, set)
	next := l.peek(2 + n)
	switch {
	case next >= '0' && next <= '9':
		return l.fault(2+n, "invalid digit '%c' in %s literal", next, name)
	case bad || n == 0:
		return l.fault(2+n, "invalid %s literal", name)
	}
	return l.ended(2+n, name)
}

// decimal reads an integer, a float or an imaginary number.
func (l *lexer) decimal() bool {
	n, bad := l.digits(0, "0123456789")
	if bad {
		return l.fault(n, "invalid decimal literal")
	}
	whole := n
	if l.peek(n) == '.' {
		n++
		more, bad := l.digits(n, "0123456789")
		if bad || l.peek(n) == '_' {
			return l.fault(n, "invalid decimal literal")
		}
		n += more
	}
	n, bad = l.exponent(n)
	if bad {
		return l.fault(n, "invalid decimal literal")
	}
	if l.peek(n)|0x20 == 'j' {
		return l.ended(n+1, "imaginary")
	}
	if n == whole && l.leadingZero(n) {
		return l.fault(n, "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers")
	}
	return l.ended(n, "decimal")
}

// exponent reads e5, e-5 and the like behind byte n, and gives the new end.
func (l *lexer) exponent(n int) (end int, bad bool) {
	if l.peek(n)|0x20 != 'e' {
		return n, false
	}
	i := n + 1
	if c := l.peek(i); c == '+' || c == '-' {
		i++
	}
	if !isDigit(rune(l.peek(i))) {
		return n, false // "1else" is a number and a keyword
	}
	more, bad := l.digits(i, "0123456789")
	return i + more, bad
}

func (l *lexer) leadingZero(n int) bool {
	text := l.text[l.pos : l.pos+n]
	return text[0] == '0' && strings.Trim(text, "0_") != ""
}

// ended emits the number of n bytes unless a name is glued to it. Keywords may
// be, as in Python.
func (l *lexer) ended(n int, name string) bool {
	rest := l.text[l.pos+n:]
	end := strings.IndexFunc(rest, func(r rune) bool { return !isNamePart(r) })
	if end < 0 {
		end = len(rest)
	}
	switch word := rest[:end]; word {
	case "", "and", "else", "for", "if", "in", "is", "not", "or":
		return l.emit(tNumber, n)
	default:
		return l.fault(n, "invalid %s literal%s", name, productHint(l.text[l.pos:l.pos+n], word))
	}
}

// productHint shows how a product of the two is written, where the second is a name:
// Python has no other meaning for them side by side.
func productHint(first, second string) string {
	const most = 24 // bytes of each that a hint repeats
	r, _ := utf8.DecodeRuneInString(second)
	switch {
	case !unicode.IsLetter(r):
		return ""
	case len(first) > most || len(second) > most:
		return " (write * between the factors of a product)"
	}
	return " (write " + first + "*" + second + " for a product)"
}
