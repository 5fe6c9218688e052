package main

import (
	"math"
	"math/big"
	"strconv"
)

// partFunctions take numbers apart and round them.
func partFunctions() []*builtin {
	return []*builtin{
		unary("floor", func(v value) (value, error) { return whole(v, math.Floor) }),
		unary("ceil", func(v value) (value, error) { return whole(v, math.Ceil) }),
		unary("trunc", truncate),
		unary("frexp", frexp),
		unary("modf", modf),
		{"ldexp", params{style: positional, min: 2, max: 2}, ldexp},
	}
}

// whole rounds v to an integer by f.
func whole(v value, f func(float64) float64) (value, error) {
	if i, ok := asInt(v); ok {
		return i, nil
	}
	x, err := real64(v)
	if err != nil {
		return nil, err
	}
	return toInt(f(x))
}

func truncate(v value) (value, error) {
	if rankOf(v) == rankInt || rankOf(v) == rankFloat {
		return whole(v, math.Trunc)
	}
	return nil, raise(typeError, "type %s doesn't define __trunc__ method", typeName(v))
}

// toInt is a whole float as an integer.
func toInt(x float64) (value, error) {
	switch {
	case math.IsInf(x, 0):
		return nil, raise(overflowError, "cannot convert float infinity to integer")
	case math.IsNaN(x):
		return nil, raise(valueError, "cannot convert float NaN to integer")
	}
	i, _ := new(big.Float).SetFloat64(x).Int(nil)
	return i, nil
}

func frexp(v value) (value, error) {
	x, err := real64(v)
	if err != nil {
		return nil, err
	}
	mantissa, exponent := math.Frexp(x)
	return &sequence{tuple: true, items: []value{mantissa, big.NewInt(int64(exponent))}}, nil
}

func modf(v value) (value, error) {
	x, err := real64(v)
	if err != nil {
		return nil, err
	}
	integer, fraction := math.Trunc(x), math.Copysign(x-math.Trunc(x), x)
	switch {
	case math.IsInf(x, 0):
		fraction = math.Copysign(0, x)
	case math.IsNaN(x):
		fraction = x
	}
	return &sequence{tuple: true, items: []value{fraction, integer}}, nil
}

func ldexp(_ *evaluator, a arguments) (value, error) {
	x, err := real64(a[0])
	if err != nil {
		return nil, err
	}
	i, ok := asInt(a[1])
	if !ok {
		return nil, raise(typeError, "Expected an int as second argument to ldexp.")
	}
	exponent := math.MaxInt32 * i.Sign()
	if i.IsInt64() && i.Int64() > math.MinInt32 && i.Int64() < math.MaxInt32 {
		exponent = int(i.Int64())
	}
	y := math.Ldexp(x, exponent)
	if math.IsInf(y, 0) && !math.IsInf(x, 0) {
		return nil, rangeError()
	}
	return y, nil
}

func (e *evaluator) abs(a arguments) (value, error) {
	if i, ok := asInt(a[0]); ok {
		return e.sized(new(big.Int).Abs(i))
	}
	switch v := a[0].(type) {
	case float64:
		return math.Abs(v), nil
	case complex128:
		return magnitude(v)
	}
	return nil, unsupportedUnary("abs()", a[0])
}

// round rounds half to even, on the exact decimal value of a float.
func (e *evaluator) round(a arguments) (value, error) {
	rank := rankOf(a[0])
	if rank != rankInt && rank != rankFloat {
		return nil, raise(typeError, "type %s doesn't define __round__ method", typeName(a[0]))
	}
	var digits *big.Int
	if _, isNone := argument(a, 1).(none); a.given(1) && !isNone {
		var err error
		if digits, err = asIndex(a[1]); err != nil {
			return nil, err
		}
	}
	if i, ok := asInt(a[0]); ok {
		return e.roundInt(i, digits)
	}
	x, _ := a[0].(float64)
	if digits == nil {
		return toInt(math.RoundToEven(x))
	}
	return roundFloat(x, digits)
}

func argument(a arguments, i int) value {
	if a.given(i) {
		return a[i]
	}
	return nil
}

func (e *evaluator) roundInt(i, digits *big.Int) (value, error) {
	if digits == nil || digits.Sign() >= 0 {
		return i, nil
	}
	n := new(big.Int).Neg(digits)
	if approx(n) > float64(i.BitLen())*math.Log10(2)+2 {
		return new(big.Int), nil
	}
	unit := new(big.Int).Exp(big.NewInt(10), n, nil)
	q, r := floorDiv(i, unit)
	if order := new(big.Int).Lsh(r, 1).Cmp(unit); order > 0 || order == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	return e.sized(q.Mul(q, unit))
}

func roundFloat(x float64, digits *big.Int) (value, error) {
	switch n := approx(digits); {
	case math.IsNaN(x) || math.IsInf(x, 0) || n > 323:
		return x, nil
	case n < -308:
		return math.Copysign(0, x), nil
	}
	n := int(digits.Int64())
	if n >= 0 {
		y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', n, 64), 64)
		return y, nil
	}
	return roundTens(x, -n)
}

// roundTens rounds x to a multiple of 10**n.
func roundTens(x float64, n int) (value, error) {
	unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil))
	ratio := new(big.Rat).SetFloat64(x)
	ratio.Quo(ratio, unit)
	q, r := floorDiv(ratio.Num(), ratio.Denom())
	if order := new(big.Int).Lsh(r, 1).Cmp(ratio.Denom()); order > 0 || order == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	y, _ := new(big.Float).SetInt(q.Mul(q, unit.Num())).Float64()
	if math.IsInf(y, 0) {
		return nil, raise(overflowError, "rounded value too large to represent")
	}
	return math.Copysign(y, x), nil
}

// pow is the built-in one, whose third argument is a modulus.
func (e *evaluator) pow(a arguments) (value, error) {
	modulus := argument(a, 2)
	if _, isNone := modulus.(none); modulus == nil || isNone {
		return e.binary("**", a[0], a[1])
	}
	base, baseIs := asInt(a[0])
	exponent, exponentIs := asInt(a[1])
	m, mIs := asInt(modulus)
	if !baseIs || !exponentIs || !mIs {
		return nil, e.powComplaint(a)
	}
	if m.Sign() == 0 {
		return nil, raise(valueError, "pow() 3rd argument cannot be 0")
	}
	size := new(big.Int).Abs(m)
	if exponent.Sign() < 0 {
		base = new(big.Int).ModInverse(new(big.Int).Mod(base, size), size)
		exponent = new(big.Int).Neg(exponent)
	}
	if base == nil {
		return nil, raise(valueError, "base is not invertible for the given modulus")
	}
	result, err := e.powMod(base, exponent, size)
	if err != nil {
		return nil, err
	}
	if m.Sign() < 0 && result.Sign() != 0 {
		result.Add(result, m)
	}
	return e.sized(result)
}

func (e *evaluator) powComplaint(a arguments) error {
	for _, v := range a {
		if rankOf(v) == notNumber {
			return raise(typeError, "unsupported operand type(s) for ** or pow(): '%s', '%s', '%s'",
				typeName(a[0]), typeName(a[1]), typeName(a[2]))
		}
	}
	for _, v := range a {
		if rankOf(v) == rankComplex {
			return raise(valueError, "complex modulo")
		}
	}
	return raise(typeError, "pow() 3rd argument not allowed unless all arguments are integers")
}

// powMod squares and multiplies by itself where that takes long, so that it can
// be stopped.
func (e *evaluator) powMod(base, exponent, m *big.Int) (*big.Int, error) {
	if m.BitLen() <= 2048 && exponent.BitLen() <= 4096 {
		return new(big.Int).Exp(base, exponent, m), nil
	}
	result := new(big.Int).Mod(big.NewInt(1), m)
	base = new(big.Int).Mod(base, m)
	for i := exponent.BitLen() - 1; i >= 0; i-- {
		if err := e.expired(); err != nil {
			return nil, err
		}
		result.Mod(result.Mul(result, result), m)
		if exponent.Bit(i) == 1 {
			result.Mod(result.Mul(result, base), m)
		}
	}
	return result, nil
}
