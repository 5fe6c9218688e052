package main

import (
	"math"
	"math/big"
)

// maxBits bounds integers: none with more bits is ever computed.
const maxBits = 1 << 20

// tooLarge refuses a result of about so many bits before it is computed.
func tooLarge(bits float64) error {
	return raise(overflowError, "integer result would have about %.3g bits; at most %d are computed", bits, maxBits)
}

// sized accounts for an integer that was computed and keeps the bound on its
// size, should an estimate have been low.
func (e *evaluator) sized(i *big.Int) (value, error) {
	bits := i.BitLen()
	if bits > maxBits {
		return nil, tooLarge(float64(bits))
	}
	if bits > 1024 {
		if err := e.spend(int64(bits) / 8); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// log2Int is the binary logarithm of |i|, which must not be 0.
func log2Int(i *big.Int) float64 {
	mantissa := new(big.Float).SetPrec(64).SetInt(i)
	exponent := mantissa.MantExp(mantissa)
	f, _ := mantissa.Float64()
	return math.Log2(math.Abs(f)) + float64(exponent)
}

// approx is i as a float, infinite when it is too large for one.
func approx(i *big.Int) float64 {
	f, _ := new(big.Float).SetInt(i).Float64()
	return f
}

func (e *evaluator) intOp(op string, left, right value) (value, error) {
	a, _ := asInt(left)
	b, _ := asInt(right)
	switch op {
	case "+":
		return e.sized(new(big.Int).Add(a, b))
	case "-":
		return e.sized(new(big.Int).Sub(a, b))
	case "*":
		return e.multiply(a, b)
	case "/":
		return divideInts(a, b)
	case "//", "%":
		return e.divmod(op, a, b)
	case "**":
		return e.powInts(a, b)
	case "<<", ">>":
		return e.shift(op, a, b)
	}
	return e.bits(op, left, right)
}

func (e *evaluator) multiply(a, b *big.Int) (value, error) {
	if bits := a.BitLen() + b.BitLen() - 1; bits > maxBits {
		return nil, tooLarge(float64(bits))
	}
	return e.sized(new(big.Int).Mul(a, b))
}

// divmod rounds towards minus infinity, as Python does.
func (e *evaluator) divmod(op string, a, b *big.Int) (value, error) {
	if b.Sign() == 0 {
		if op == "%" {
			return nil, raise(zeroDivision, "integer modulo by zero")
		}
		return nil, raise(zeroDivision, "integer division or modulo by zero")
	}
	q, r := floorDiv(a, b)
	if op == "%" {
		return e.sized(r)
	}
	return e.sized(q)
}

func floorDiv(a, b *big.Int) (q, r *big.Int) {
	q, r = new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Sign() != 0 && r.Sign() != b.Sign() {
		q.Sub(q, big.NewInt(1))
		r.Add(r, b)
	}
	return q, r
}

// divideInts is the quotient as a float, rounded once.
func divideInts(a, b *big.Int) (value, error) {
	if b.Sign() == 0 {
		return nil, raise(zeroDivision, "division by zero")
	}
	if a.Sign() == 0 {
		return math.Copysign(0, float64(b.Sign())), nil
	}
	// A quotient of 66 bits or more whose last bit says whether more would
	// follow rounds as the exact one does.
	shift := b.BitLen() - a.BitLen() + 66
	num, den := new(big.Int).Abs(a), new(big.Int).Abs(b)
	if shift > 0 {
		num.Lsh(num, uint(shift))
	} else {
		den.Lsh(den, uint(-shift))
	}
	q, r := num.QuoRem(num, den, new(big.Int))
	q.Lsh(q, 1)
	if r.Sign() != 0 {
		q.SetBit(q, 0, 1)
	}
	exact := new(big.Float).SetInt(q)
	f, _ := exact.SetMantExp(exact, -shift-1).Float64()
	if math.IsInf(f, 0) {
		return nil, raise(overflowError, "integer division result too large for a float")
	}
	if a.Sign() != b.Sign() {
		f = -f
	}
	return f, nil
}

// intToFloat rounds to the nearest float.
func intToFloat(i *big.Int) (float64, error) {
	f, _ := new(big.Float).SetInt(i).Float64()
	if math.IsInf(f, 0) {
		return 0, raise(overflowError, "int too large to convert to float")
	}
	return f, nil
}

func (e *evaluator) powInts(a, b *big.Int) (value, error) {
	if b.Sign() < 0 {
		x, err := intToFloat(a)
		if err != nil {
			return nil, err
		}
		y, err := intToFloat(b)
		if err != nil {
			return nil, err
		}
		return powFloats(x, y)
	}
	if a.IsInt64() && a.Int64() >= -1 && a.Int64() <= 1 {
		return smallPower(a, b), nil
	}
	if bits := log2Int(a)*approx(b) + 1; b.Sign() > 0 && bits > maxBits+1 {
		return nil, tooLarge(bits)
	}
	return e.sized(new(big.Int).Exp(a, b, nil))
}

// smallPower is a**b for a of -1, 0 and 1.
func smallPower(a, b *big.Int) *big.Int {
	switch {
	case b.Sign() == 0:
		return big.NewInt(1)
	case b.Bit(0) == 0:
		return new(big.Int).Mul(a, a)
	}
	return a
}

func (e *evaluator) shift(op string, a, b *big.Int) (value, error) {
	switch {
	case b.Sign() < 0:
		return nil, raise(valueError, "negative shift count")
	case op == "<<" && a.Sign() == 0:
		return a, nil
	case op == "<<":
		if bits := float64(a.BitLen()) + approx(b); bits > maxBits {
			return nil, tooLarge(bits)
		}
		return e.sized(new(big.Int).Lsh(a, uint(b.Uint64())))
	case b.IsUint64() && b.Uint64() < maxBits:
		return e.sized(new(big.Int).Rsh(a, uint(b.Uint64())))
	case a.Sign() < 0:
		return big.NewInt(-1), nil
	}
	return new(big.Int), nil
}

// bits computes & | ^, which keep booleans booleans.
func (e *evaluator) bits(op string, left, right value) (value, error) {
	a, _ := asInt(left)
	b, _ := asInt(right)
	i := new(big.Int)
	switch op {
	case "&":
		i.And(a, b)
	case "|":
		i.Or(a, b)
	case "^":
		i.Xor(a, b)
	default:
		return nil, unsupported(op, left, right)
	}
	_, aBool := left.(boolean)
	_, bBool := right.(boolean)
	if aBool && bBool {
		return boolean(i.Sign() != 0), nil
	}
	return e.sized(i)
}
