package main

import (
	"cmp"
	"math"
	"math/big"
)

func toComplex(v value) (complex128, error) {
	if c, ok := v.(complex128); ok {
		return c, nil
	}
	f, err := real64(v)
	return complex(f, 0), err
}

func complexOp(op string, left, right value) (value, error) {
	switch op {
	case "+", "-", "*", "/", "**":
	default:
		return nil, unsupported(op, left, right)
	}
	a, err := toComplex(left)
	if err != nil {
		return nil, err
	}
	b, err := toComplex(right)
	if err != nil {
		return nil, err
	}
	switch op {
	case "+":
		return a + b, nil
	case "-":
		return a - b, nil
	case "*":
		return product(a, b), nil
	case "/":
		if b == 0 {
			return nil, raise(zeroDivision, "complex division by zero")
		}
		return quotient(a, b), nil
	}
	return powComplex(a, b)
}

// product multiplies without fused operations, which would round differently.
func product(a, b complex128) complex128 {
	return complex(
		float64(real(a)*real(b))-float64(imag(a)*imag(b)),
		float64(real(a)*imag(b))+float64(imag(a)*real(b)),
	)
}

// quotient divides by Smith's method (R. L. Smith, Algorithm 116, CACM 1962).
func quotient(a, b complex128) complex128 {
	re, im := real(b), imag(b)
	switch {
	case math.Abs(re) >= math.Abs(im):
		ratio := im / re
		denominator := re + float64(im*ratio)
		return complex((real(a)+float64(imag(a)*ratio))/denominator, (imag(a)-float64(real(a)*ratio))/denominator)
	case math.Abs(im) >= math.Abs(re):
		ratio := re / im
		denominator := float64(re*ratio) + im
		return complex((float64(real(a)*ratio)+imag(a))/denominator, (float64(imag(a)*ratio)-real(a))/denominator)
	}
	return complex(math.NaN(), math.NaN())
}

// powComplex is a**b.
func powComplex(a, b complex128) (value, error) {
	c, ok := complexPower(a, b)
	switch {
	case !ok: // C's domain error, too, is told in these words
		return nil, raise(zeroDivision, "0.0 to a negative or complex power")
	case math.IsInf(real(c), 0) || math.IsInf(imag(c), 0):
		return nil, raise(overflowError, "complex exponentiation")
	}
	return c, nil
}

// complexPower multiplies for small whole b and uses the polar form else.
func complexPower(a, b complex128) (c complex128, ok bool) {
	if imag(b) == 0 && real(b) == math.Floor(real(b)) && math.Abs(real(b)) <= 100 {
		if a == 0 && real(b) < 0 {
			return 0, false
		}
		return wholePower(a, int(real(b))), true
	}
	if a == 0 {
		return 0, imag(b) == 0 && !(real(b) < 0)
	}
	return polarPower(a, b)
}

func wholePower(a complex128, n int) complex128 {
	if n < 0 {
		return quotient(1, wholePower(a, -n))
	}
	result, square := complex128(1), a
	for mask := 1; mask > 0 && n >= mask; mask <<= 1 {
		if n&mask != 0 {
			result = product(result, square)
		}
		square = product(square, square)
	}
	return result
}

// polarPower is not ok when the angle is infinite.
func polarPower(a, b complex128) (c complex128, ok bool) {
	length := hypotenuse([]float64{real(a), imag(a)})
	angle := arctan2(imag(a), real(a))
	radius := power(length, real(b))
	phase := float64(angle * real(b))
	if imag(b) != 0 {
		radius /= exponential(float64(angle * imag(b)))
		phase += float64(imag(b) * logarithm(length))
	}
	return complex(float64(radius*cosine(phase)), float64(radius*sine(phase))), !math.IsInf(phase, 0)
}

// magnitude is abs of a complex number.
func magnitude(c complex128) (value, error) {
	f := hypotenuse([]float64{real(c), imag(c)})
	if math.IsInf(f, 0) && !math.IsInf(real(c), 0) && !math.IsInf(imag(c), 0) {
		return nil, raise(overflowError, "absolute value too large")
	}
	return f, nil
}

// sameComplex compares with a number of any type, exactly.
func sameComplex(c complex128, v value) bool {
	if other, ok := v.(complex128); ok {
		return c == other
	}
	if imag(c) != 0 || math.IsNaN(real(c)) {
		return false
	}
	order, ok := orderReals(real(c), v)
	return ok && order == 0
}

// orderReals orders two numbers that are not complex; ok is false for NaN.
func orderReals(a, b value) (order int, ok bool) {
	x, xFloat := a.(float64)
	y, yFloat := b.(float64)
	if xFloat && math.IsNaN(x) || yFloat && math.IsNaN(y) {
		return 0, false
	}
	if xFloat && yFloat {
		return cmp.Compare(x, y), true
	}
	return exact(a).Cmp(exact(b)), true
}

// exact is a number as a float that holds every bit of it.
func exact(v value) *big.Float {
	if f, ok := v.(float64); ok {
		return new(big.Float).SetFloat64(f)
	}
	i, _ := asInt(v)
	return new(big.Float).SetInt(i)
}
