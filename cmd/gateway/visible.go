package main

import (
	"fmt"
	"io"
	"slices"
	"unicode"
	"unicode/utf8"
)

// visible writes what a program printed so that it cannot steer a terminal:
// control characters but line ends and tabs, marks that turn the direction of
// writing, and bytes that are no UTF-8 are shown as escapes.
type visible struct {
	to   io.Writer
	rest []byte // the beginning of a character whose end has not come yet
}

// Write implements io.Writer.
func (v *visible) Write(chunk []byte) (int, error) {
	text := slices.Concat(v.rest, chunk)
	whole := len(text)
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if b := text[len(text)-back]; utf8.RuneStart(b) {
			if !utf8.FullRune(text[len(text)-back:]) {
				whole = len(text) - back
			}
			break
		}
	}
	_, err := v.to.Write(shown(text[:whole]))
	v.rest = append([]byte(nil), text[whole:]...)
	return len(chunk), err
}

// flush writes the beginning of a character that had no end.
func (v *visible) flush() {
	_, _ = v.to.Write(shown(v.rest)) // told by the answer's own write
	v.rest = nil
}

func shown(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			out = fmt.Appendf(out, `\x%02x`, text[0])
		case r == '\n' || r == '\t' || !steers(r):
			out = append(out, text[:size]...)
		case r < utf8.RuneSelf:
			out = fmt.Appendf(out, `\x%02x`, r)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[size:]
	}
	return out
}

func steers(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}
