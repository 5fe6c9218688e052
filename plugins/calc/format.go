package main

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// maxText is how long the text of a result may be, in bytes.
const maxText = 256 << 10

// resultText is how the calculator shows v: whole floats below 1e15 as
// integers, other floats with 12 significant digits, all else as str() does.
func resultText(v value) (string, error) {
	if f, ok := v.(float64); ok {
		return floatText(f), nil
	}
	w := &textWriter{}
	w.repr(v)
	return w.b.String(), w.err
}

func floatText(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.FormatInt(int64(f), 10)
	}
	if special := specialText(f); special != "" {
		return special
	}
	return strconv.FormatFloat(f, 'g', 12, 64)
}

func specialText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return ""
}

// textWriter writes str() of a value, up to maxText bytes.
type textWriter struct {
	b   strings.Builder
	err error
}

func (w *textWriter) text(s string) {
	if w.err == nil && w.b.Len()+len(s) > maxText {
		w.err = raise(overflowError, "the result's text is longer than %d bytes", maxText)
	}
	if w.err == nil {
		w.b.WriteString(s)
	}
}

func (w *textWriter) repr(v value) {
	switch v := v.(type) {
	case *big.Int:
		w.integer(v)
	case float64:
		w.text(reprFloat(v))
	case complex128:
		w.text(reprComplex(v))
	case boolean:
		w.text(map[bool]string{true: "True", false: "False"}[bool(v)])
	case none:
		w.text("None")
	case ellipsis:
		w.text("Ellipsis")
	case *sequence:
		w.sequence(v)
	case *builtin:
		w.text(v.String())
	}
}

func (w *textWriter) integer(i *big.Int) {
	// 4,300 digits are 14,285 bits at most.
	text := ""
	if i.BitLen() <= 14285 {
		text = i.String()
	}
	if digits := len(strings.TrimPrefix(text, "-")); digits == 0 || digits > maxDigits {
		if w.err == nil {
			w.err = raise(valueError, "Exceeds the limit (%d digits) for integer string conversion; "+
				"use sys.set_int_max_str_digits() to increase the limit", maxDigits)
		}
		return
	}
	w.text(text)
}

func (w *textWriter) sequence(s *sequence) {
	open, end := "[", "]"
	if s.tuple {
		open, end = "(", ")"
		if len(s.items) == 1 {
			end = ",)"
		}
	}
	w.text(open)
	for i, item := range s.items {
		if i > 0 {
			w.text(", ")
		}
		if w.repr(item); w.err != nil {
			return
		}
	}
	w.text(end)
}

// reprFloat is Python's repr: the shortest digits that read back as f.
func reprFloat(f float64) string {
	text := shortest(f)
	if strings.ContainsAny(text, ".en") { // also nan and inf
		return text
	}
	return text + ".0"
}

func shortest(f float64) string {
	if special := specialText(f); special != "" {
		return special
	}
	text := strconv.FormatFloat(f, 'e', -1, 64)
	mark := strings.IndexByte(text, 'e')
	exponent, _ := strconv.Atoi(text[mark+1:])
	if exponent < -4 || exponent >= 16 {
		return text
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func reprComplex(c complex128) string {
	re, im := real(c), imag(c)
	if re == 0 && !math.Signbit(re) {
		return shortest(im) + "j"
	}
	sign := ""
	if !strings.HasPrefix(shortest(im), "-") {
		sign = "+"
	}
	return "(" + shortest(re) + sign + shortest(im) + "j)"
}
