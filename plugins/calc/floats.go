package main

import "math"

func floatOp(op string, left, right value) (value, error) {
	switch op {
	case "<<", ">>", "&", "|", "^", "@":
		return nil, unsupported(op, left, right)
	}
	a, err := real64(left)
	if err != nil {
		return nil, err
	}
	b, err := real64(right)
	if err != nil {
		return nil, err
	}
	switch op {
	case "+":
		return a + b, nil
	case "-":
		return a - b, nil
	case "*":
		return a * b, nil
	case "**":
		return powFloats(a, b)
	}
	return divideFloats(op, a, b)
}

func divideFloats(op string, a, b float64) (value, error) {
	switch {
	case op == "/" && b == 0:
		return nil, raise(zeroDivision, "float division by zero")
	case op == "//" && b == 0:
		return nil, raise(zeroDivision, "float floor division by zero")
	case b == 0:
		return nil, raise(zeroDivision, "float modulo")
	case op == "/":
		return a / b, nil
	}
	quotient, rest := floorDivFloats(a, b)
	if op == "%" {
		return rest, nil
	}
	return quotient, nil
}

// floorDivFloats gives a//b and a%b: the rest has b's sign, and the quotient is
// the whole number nearest to (a-rest)/b.
func floorDivFloats(a, b float64) (quotient, rest float64) {
	rest = math.Mod(a, b)
	div := (a - rest) / b
	switch {
	case rest == 0:
		rest = math.Copysign(0, b)
	case (b < 0) != (rest < 0):
		rest += b
		div--
	}
	if div == 0 {
		return math.Copysign(0, a/b), rest
	}
	quotient = math.Floor(div)
	if div-quotient > 0.5 {
		quotient++
	}
	return quotient, rest
}

// powFloats is a**b; a negative number to a broken power is complex.
func powFloats(a, b float64) (value, error) {
	switch {
	case a == 0 && b < 0 && !math.IsInf(b, 0):
		return nil, raise(zeroDivision, "0.0 cannot be raised to a negative power")
	case a < 0 && !math.IsInf(a, 0) && !special(b) && b != math.Floor(b):
		return powComplex(complex(a, 0), complex(b, 0))
	}
	f := power(a, b)
	if math.IsInf(f, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		return nil, raise(overflowError, "(34, 'Numerical result out of range')")
	}
	return f, nil
}
