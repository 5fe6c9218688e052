package main

import (
	"math"
	"math/big"
)

// This file holds the functions of floats that the evaluator calls: the special
// values of C's functions first, and the nearest float for all others.

func special(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

func exponential(x float64) float64 {
	switch {
	case special(x), x > 710, x < -746, x == 0:
		return math.Exp(x)
	}
	return round53(expBig(fromFloat(x, work), work))
}

func exponential2(x float64) float64 {
	switch {
	case special(x), x == 0, x >= 1024, x < -1080:
		return math.Exp2(x)
	}
	y := fromFloat(x, work)
	return round53(expBig(y.Mul(y, ln2Bits()), work))
}

func exponentialM1(x float64) float64 {
	switch {
	case special(x), x == 0, x > 710, x < -746, math.Abs(x) < 1e-300:
		return math.Expm1(x)
	}
	return round53(expm1Big(fromFloat(x, work), work))
}

func logarithm(x float64) float64 {
	if special(x) || x <= 0 {
		return math.Log(x)
	}
	return round53(logBig(fromFloat(x, work)))
}

// logarithmBase is the logarithm of x over that of base.
func logarithmBase(x float64, base int64) float64 {
	if special(x) || x <= 0 {
		return math.Log(x)
	}
	return round53(logBaseBig(fromFloat(x, work), base))
}

func logBaseBig(x *big.Float, base int64) *big.Float {
	y := logBig(x)
	return y.Quo(y, logBig(newFloat(work).SetInt64(base)))
}

func logarithm2(x float64) float64  { return logarithmBase(x, 2) }
func logarithm10(x float64) float64 { return logarithmBase(x, 10) }

func logarithm1p(x float64) float64 {
	if special(x) || x <= -1 || math.Abs(x) < 1e-300 {
		return math.Log1p(x)
	}
	exact := newFloat(2200).SetInt64(1)
	return round53(logBig(exact.Add(exact, fromFloat(x, work))))
}

// logOf is f of v, which may be an integer too large for a float. f is a
// logarithm; the base is found by asking it.
func logOf(v value, f func(float64) float64) (value, error) {
	if i, ok := asInt(v); ok {
		if i.Sign() <= 0 {
			return nil, domainError()
		}
		if math.IsInf(approx(i), 0) {
			return round53(logOfLarge(i, f)), nil
		}
		v = approx(i)
	}
	x, err := real64(v)
	switch {
	case err != nil:
		return nil, err
	case x <= 0:
		return nil, domainError()
	}
	return f(x), nil
}

func logOfLarge(i *big.Int, f func(float64) float64) *big.Float {
	x := newFloat(work).SetInt(i)
	for _, base := range []int64{2, 10} {
		if f(float64(base)) == 1 {
			return logBaseBig(x, base)
		}
	}
	return logBig(x)
}

func sine(x float64) float64 {
	if special(x) || math.Abs(x) < 1e-160 {
		return math.Sin(x)
	}
	sin, _ := sincosBig(fromFloat(x, work), work)
	return round53(sin)
}

func cosine(x float64) float64 {
	if special(x) {
		return math.Cos(x)
	}
	_, cos := sincosBig(fromFloat(x, work), work)
	return round53(cos)
}

func tangent(x float64) float64 {
	if special(x) || math.Abs(x) < 1e-160 {
		return math.Tan(x)
	}
	sin, cos := sincosBig(fromFloat(x, work), work)
	return round53(sin.Quo(sin, cos))
}

func arctan2(y, x float64) float64 {
	start := math.Atan2(y, x)
	if special(x) || special(y) || x == 0 && y == 0 || y == 0 && x > 0 || math.Abs(start) < 1e-300 {
		return start
	}
	return round53(atan2Big(fromFloat(y, work), fromFloat(x, work), start, work))
}

func arctan(x float64) float64 { return arctan2(x, 1) }

// cosOf is sqrt(1-x²), the other side of the triangle.
func cosOf(x float64) *big.Float {
	square := fromFloat(x, wide)
	square.Mul(square, square)
	return sqrtBig(square.Sub(newFloat(wide).SetInt64(1), square), work)
}

func arcsin(x float64) float64 {
	if !(math.Abs(x) <= 1) || math.Abs(x) < 1e-160 {
		return math.Asin(x)
	}
	return round53(atan2Big(fromFloat(x, work), cosOf(x), math.Asin(x), work))
}

func arccos(x float64) float64 {
	if !(math.Abs(x) <= 1) || x == 1 {
		return math.Acos(x)
	}
	other := cosOf(x)
	return round53(atan2Big(other, fromFloat(x, work), math.Acos(x), work))
}

// hyperbolics gives e**x - e**-x and e**x + e**-x for x >= 0.
func hyperbolics(x float64) (difference, sum *big.Float) {
	e := expm1Big(fromFloat(x, work), 2*work)
	one := newFloat(e.Prec()).SetInt64(1)
	grown := newFloat(e.Prec()).Add(e, one)
	inverse := newFloat(e.Prec()).Quo(one, grown)
	// e**x - e**-x = m + m/(m+1) for m = e**x - 1.
	difference = newFloat(e.Prec()).Quo(e, grown)
	return difference.Add(difference, e), grown.Add(grown, inverse)
}

func hyperbolicSine(x float64) float64 {
	if special(x) || math.Abs(x) > 711 || math.Abs(x) < 1e-160 {
		return math.Sinh(x)
	}
	difference, _ := hyperbolics(math.Abs(x))
	return math.Copysign(round53(scale(difference, -1)), x)
}

func hyperbolicCosine(x float64) float64 {
	if special(x) || math.Abs(x) > 711 || x == 0 {
		return math.Cosh(x)
	}
	_, sum := hyperbolics(math.Abs(x))
	return round53(scale(sum, -1))
}

func hyperbolicTangent(x float64) float64 {
	if special(x) || math.Abs(x) > 50 || math.Abs(x) < 1e-160 {
		return math.Tanh(x)
	}
	difference, sum := hyperbolics(math.Abs(x))
	return math.Copysign(round53(difference.Quo(difference, sum)), x)
}

// arsinh is log(x + sqrt(x²+1)), for positive x.
func arsinh(x float64) float64 {
	if special(x) || math.Abs(x) < 1e-160 {
		return math.Asinh(x)
	}
	big := fromFloat(math.Abs(x), wide)
	square := newFloat(2*wide).Mul(big, big)
	root := sqrtBig(square.Add(square, newFloat(2).SetInt64(1)), 2*wide)
	return math.Copysign(round53(logBig(root.Add(root, big))), x)
}

func arcosh(x float64) float64 {
	if special(x) || x <= 1 {
		return math.Acosh(x)
	}
	big := fromFloat(x, wide)
	square := newFloat(2*wide).Mul(big, big)
	root := sqrtBig(square.Sub(square, newFloat(2).SetInt64(1)), 2*wide)
	return round53(logBig(root.Add(root, big)))
}

// artanh is half of log((1+x)/(1-x)).
func artanh(x float64) float64 {
	if !(math.Abs(x) < 1) || math.Abs(x) < 1e-160 {
		return math.Atanh(x)
	}
	one := newFloat(2 * wide).SetInt64(1)
	above := newFloat(2*wide).Add(one, fromFloat(x, work))
	below := one.Sub(one, fromFloat(x, work))
	return round53(scale(logBig(above.Quo(above, below)), -1))
}

func cubeRoot(x float64) float64 {
	if special(x) || x == 0 {
		return x
	}
	y := logBig(fromFloat(math.Abs(x), work))
	y = expBig(y.Quo(y, newFloat(work).SetInt64(3)), work)
	return math.Copysign(round53(y), x)
}

// power is C's pow.
func power(x, y float64) float64 {
	switch {
	case special(x), special(y), x == 0, y == 0, x == 1, y == 1, x < 0 && y != math.Trunc(y):
		return math.Pow(x, y)
	}
	negative := x < 0 && math.Abs(math.Mod(y, 2)) == 1
	exponent := logBig(fromFloat(math.Abs(x), work))
	exponent.Mul(exponent, fromFloat(y, work))
	f, _ := exponent.Float64()
	result := math.Exp(f) // right where the result is no ordinary number
	if f < 710 && f > -746 {
		result = round53(expBig(exponent, work))
	}
	if negative {
		result = -result
	}
	return result
}

// hypotenuse is the root of the sum of squares; an infinite side wins over NaN.
func hypotenuse(sides []float64) float64 {
	nan := false
	for _, x := range sides {
		if math.IsInf(x, 0) {
			return math.Inf(1)
		}
		nan = nan || math.IsNaN(x)
	}
	if nan {
		return math.NaN()
	}
	const exactBits = 4400 // squares reach from 2**-2148 to 2**2048
	sum := newFloat(exactBits)
	for _, x := range sides {
		square := newFloat(2 * 53).SetFloat64(x)
		sum.Add(sum, square.Mul(square, square))
	}
	return round53(sqrtBig(sum, work))
}
