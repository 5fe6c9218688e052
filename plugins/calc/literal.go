package main

import (
	"math/big"
	"strconv"
	"strings"
)

// maxDigits is how many decimal digits an integer may have as text, as in
// CPython.
const maxDigits = 4300

// number makes the node of a numeric literal.
func (p *parser) number(t token) *node {
	n := p.node(kConstant, t.at)
	n.text = t.text
	text := strings.ToLower(strings.ReplaceAll(t.text, "_", ""))
	switch {
	case len(text) > 2 && text[0] == '0' && text[1] >= 'b' && text[1] <= 'x' && text[1] != 'e':
		n.literal, n.value = "int", integer(text, 0)
	case strings.HasSuffix(text, "j"):
		n.literal, n.value = "complex", complex(0, float(text[:len(text)-1]))
	case strings.ContainsAny(text, ".e"):
		n.literal, n.value = "float", float(text)
	case len(text) > maxDigits:
		p.fail(t.at, "Exceeds the limit (%d digits) for integer string conversion: value has %d digits; "+
			"use sys.set_int_max_str_digits() to increase the limit - "+
			"Consider hexadecimal for huge integer literals to avoid decimal conversion limits.", maxDigits, len(text))
	default:
		n.literal, n.value = "int", integer(text, 10)
	}
	return n
}

// integer reads digits that the lexer has checked.
func integer(text string, base int) *big.Int {
	i, _ := new(big.Int).SetString(text, base)
	return i
}

// float reads a float that the lexer has checked; too large a one is inf.
func float(text string) float64 {
	f, _ := strconv.ParseFloat(text, 64)
	return f
}
