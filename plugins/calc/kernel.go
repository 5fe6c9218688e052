package main

import (
	"math"
	"math/big"
	"sync"
)

// This file computes elementary functions to many bits, so that rounding to a
// float gives the nearest one. C libraries are within a bit of that, and Go's
// package math within two or three, which is enough to turn floor(log10(1000))
// into 2.
//
// work is the precision that callers ask for; every method keeps guard bits of
// its own. Arguments are finite.

const (
	work  = 200 // bits of a result before it is rounded to 53
	guard = 64
	// wide is enough to reduce the largest float by multiples of π/2.
	wide = 1024 + 2*work + guard
)

var (
	piBits  = sync.OnceValue(func() *big.Float { return machin(wide) })
	ln2Bits = sync.OnceValue(func() *big.Float { return machinLog2(wide) })
)

// machin is π by Machin's formula, 16 arctan(1/5) - 4 arctan(1/239).
func machin(bits uint) *big.Float {
	sum := inverseSeries(5, bits, true)
	sum.Mul(sum, big.NewInt(16))
	second := inverseSeries(239, bits, true)
	return fixed(sum.Sub(sum, second.Mul(second, big.NewInt(4))), bits)
}

// machinLog2 is the logarithm of 2 as 18 artanh(1/26) - 2 artanh(1/4801) +
// 8 artanh(1/8749).
func machinLog2(bits uint) *big.Float {
	sum := inverseSeries(26, bits, false)
	sum.Mul(sum, big.NewInt(18))
	second, third := inverseSeries(4801, bits, false), inverseSeries(8749, bits, false)
	sum.Sub(sum, second.Mul(second, big.NewInt(2)))
	return fixed(sum.Add(sum, third.Mul(third, big.NewInt(8))), bits)
}

// inverseSeries is arctan(1/n), or artanh(1/n), times 2**(bits+guard).
func inverseSeries(n int64, bits uint, alternating bool) *big.Int {
	term := new(big.Int).Lsh(big.NewInt(1), bits+guard)
	term.Quo(term, big.NewInt(n))
	square := big.NewInt(n * n)
	sum := new(big.Int)
	for k := int64(1); term.Sign() != 0; k += 2 {
		part := new(big.Int).Quo(term, big.NewInt(k))
		if alternating && k%4 == 3 {
			part.Neg(part)
		}
		sum.Add(sum, part)
		term.Quo(term, square)
	}
	return sum
}

func fixed(i *big.Int, bits uint) *big.Float {
	f := newFloat(bits).SetInt(i)
	return f.SetMantExp(f, -int(bits+guard))
}

func newFloat(bits uint) *big.Float { return new(big.Float).SetPrec(bits) }

func fromFloat(x float64, bits uint) *big.Float { return newFloat(bits).SetFloat64(x) }

// round53 rounds twice, first to 120 bits: a result that is exact, or half way
// between two floats, is off by less than that and becomes itself again.
func round53(x *big.Float) float64 {
	f, _ := newFloat(120).Set(x).Float64()
	return f
}

// scale is x times 2**n, in place.
func scale(x *big.Float, n int) *big.Float { return x.SetMantExp(x, n) }

// nearestInt is x rounded to an integer.
func nearestInt(x *big.Float) *big.Int {
	half := big.NewFloat(0.5)
	if x.Sign() < 0 {
		half.Neg(half)
	}
	i, _ := newFloat(x.Prec()).Add(x, half).Int(nil)
	return i
}

// expBig is e**x, for |x| below 2**20.
func expBig(x *big.Float, bits uint) *big.Float {
	p := bits + guard
	ln2 := newFloat(p).Set(ln2Bits())
	k := nearestInt(newFloat(p).Quo(x, ln2))
	rest := newFloat(p).Mul(newFloat(p).SetInt(k), ln2)
	rest.Sub(newFloat(p).Set(x), rest)
	const halvings = 12
	scale(rest, -halvings)
	sum := expSeries(rest, p)
	for range halvings {
		sum.Mul(sum, sum)
	}
	return scale(sum, int(k.Int64()))
}

// expSeries is Taylor's series of e**x for a small x.
func expSeries(x *big.Float, p uint) *big.Float {
	sum, term := newFloat(p).SetInt64(1), newFloat(p).SetInt64(1)
	for n := int64(1); term.Sign() != 0 && term.MantExp(nil) > -int(p); n++ {
		term.Mul(term, x)
		term.Quo(term, newFloat(p).SetInt64(n))
		sum.Add(sum, term)
	}
	return sum
}

// expm1Big is e**x-1 without cancellation, for |x| below 2**20.
func expm1Big(x *big.Float, bits uint) *big.Float {
	if x.Sign() == 0 {
		return newFloat(bits)
	}
	p := bits + guard + uint(max(0, -x.MantExp(nil)))
	e := expBig(x, p)
	return e.Sub(e, newFloat(p).SetInt64(1))
}

// logBig is the natural logarithm of x > 0, by Halley's iteration from the
// logarithm of the nearest float, to work bits.
func logBig(x *big.Float) *big.Float {
	const bits = work
	p := bits + guard + uint(closeness(x))
	mantissa := newFloat(max(p, x.Prec()))
	k := x.MantExp(mantissa) // 0.5 <= mantissa < 1
	if mantissa.Cmp(big.NewFloat(0.75)) < 0 {
		scale(mantissa, 1)
		k--
	}
	start, _ := mantissa.Float64()
	y := fromFloat(math.Log(start), p)
	for {
		e := expBig(y, p)
		step := newFloat(p).Sub(mantissa, e)
		step.Quo(step, e.Add(e, mantissa))
		y.Add(y, scale(step, 1))
		if step.Sign() == 0 || 3*step.MantExp(nil) < -int(p) {
			break
		}
	}
	ln2 := newFloat(p).Set(ln2Bits())
	return y.Add(y, ln2.Mul(ln2, newFloat(p).SetInt64(int64(k))))
}

// closeness is about -log2|x-1|, if that is above 0.
func closeness(x *big.Float) int {
	d := newFloat(x.Prec()+8).Sub(x, big.NewFloat(1))
	if d.Sign() == 0 {
		return 0
	}
	return max(0, -d.MantExp(nil))
}

// sincosBig gives sine and cosine of a finite x.
func sincosBig(x *big.Float, bits uint) (sin, cos *big.Float) {
	p := bits + guard + uint(max(0, x.MantExp(nil)))
	half := scale(newFloat(p+guard).Set(piBits()), -1)
	k := nearestInt(newFloat(p+guard).Quo(x, half))
	rest := newFloat(p+guard).Mul(newFloat(p+guard).SetInt(k), half)
	rest.Sub(newFloat(p+guard).Set(x), rest)
	sin, cos = sincosSeries(rest, bits+2*guard)
	switch new(big.Int).And(k, big.NewInt(3)).Int64() {
	case 1:
		return cos, sin.Neg(sin)
	case 2:
		return sin.Neg(sin), cos.Neg(cos)
	case 3:
		return cos.Neg(cos), sin
	}
	return sin, cos
}

// sincosSeries sums both series for |x| < 1.
func sincosSeries(x *big.Float, p uint) (sin, cos *big.Float) {
	sin, cos = newFloat(p), newFloat(p).SetInt64(1)
	term := newFloat(p).SetInt64(1)
	floor := -int(p) + min(0, x.MantExp(nil))
	for n := int64(1); ; n++ {
		term.Mul(term, x)
		term.Quo(term, newFloat(p).SetInt64(n))
		if term.Sign() == 0 || term.MantExp(nil) < floor {
			return sin, cos
		}
		into := cos
		if n%2 == 1 {
			into = sin
		}
		if n%4 >= 2 {
			into.Sub(into, term)
		} else {
			into.Add(into, term)
		}
	}
}

// atan2Big is the angle of the point (x, y), which is not the origin. start is
// that angle as a float: one step from there, by the tangent of the difference
// t and t - t³/3, gives five times its bits.
func atan2Big(y, x *big.Float, start float64, bits uint) *big.Float {
	p := bits + guard
	sin, cos := sincosBig(fromFloat(start, p), p)
	above := newFloat(p).Mul(y, cos)
	above.Sub(above, newFloat(p).Mul(x, sin))
	below := newFloat(p).Mul(x, cos)
	below.Add(below, newFloat(p).Mul(y, sin))
	t := above.Quo(above, below)
	cube := newFloat(p).Mul(t, t)
	cube.Mul(cube, t)
	t.Sub(t, cube.Quo(cube, newFloat(p).SetInt64(3)))
	return t.Add(t, fromFloat(start, p))
}

// sqrtBig is the square root of x >= 0.
func sqrtBig(x *big.Float, bits uint) *big.Float { return newFloat(bits).Sqrt(x) }
