package main

import (
	"math"
	"math/big"
)

// rank orders the number types: an operation is done in the higher of two.
type rank uint8

const (
	notNumber rank = iota
	rankInt
	rankFloat
	rankComplex
)

func rankOf(v value) rank {
	switch v.(type) {
	case *big.Int, boolean:
		return rankInt
	case float64:
		return rankFloat
	case complex128:
		return rankComplex
	}
	return notNumber
}

// binary computes a op b for every operator but comparisons.
func (e *evaluator) binary(op string, a, b value) (value, error) {
	ra, rb := rankOf(a), rankOf(b)
	if ra == notNumber || rb == notNumber {
		return e.sequenceOp(op, a, b)
	}
	switch max(ra, rb) {
	case rankInt:
		return e.intOp(op, a, b)
	case rankFloat:
		return floatOp(op, a, b)
	}
	return complexOp(op, a, b)
}

// negate applies a prefix operator.
func (e *evaluator) negate(op string, v value) (value, error) {
	if op == "not" {
		return boolean(!truth(v)), nil
	}
	if i, ok := asInt(v); ok {
		return e.negateInt(op, i)
	}
	switch v := v.(type) {
	case float64:
		switch op {
		case "-":
			return -v, nil
		case "+":
			return v, nil
		}
	case complex128:
		switch op {
		case "-":
			return complex(-real(v), -imag(v)), nil
		case "+":
			return v, nil
		}
	}
	return nil, unsupportedUnary("unary "+op, v)
}

func (e *evaluator) negateInt(op string, i *big.Int) (value, error) {
	switch op {
	case "-":
		return e.sized(new(big.Int).Neg(i))
	case "~":
		return e.sized(new(big.Int).Not(i))
	}
	return i, nil
}

// sequenceOp joins and repeats lists and tuples.
func (e *evaluator) sequenceOp(op string, a, b value) (value, error) {
	sa, aIs := a.(*sequence)
	sb, bIs := b.(*sequence)
	switch {
	case op == "+" && aIs:
		if !bIs || sa.tuple != sb.tuple {
			return nil, raise(typeError, `can only concatenate %s (not "%s") to %s`, typeName(a), typeName(b), typeName(a))
		}
		return e.join(sa, sb)
	case op == "*" && aIs:
		return e.repeat(sa, b)
	case op == "*" && bIs:
		return e.repeat(sb, a)
	}
	return nil, unsupported(op, a, b)
}

// valueBytes is what one item of a sequence takes.
const valueBytes = 16

func (e *evaluator) join(a, b *sequence) (value, error) {
	n := len(a.items) + len(b.items)
	if err := e.spend(int64(n) * valueBytes); err != nil {
		return nil, err
	}
	items := make([]value, 0, n)
	items = append(append(items, a.items...), b.items...)
	return &sequence{tuple: a.tuple, items: items}, nil
}

func (e *evaluator) repeat(s *sequence, times value) (value, error) {
	count, ok := asInt(times)
	if !ok {
		return nil, raise(typeError, "can't multiply sequence by non-int of type '%s'", typeName(times))
	}
	if !count.IsInt64() {
		return nil, raise(overflowError, "cannot fit 'int' into an index-sized integer")
	}
	if count.Sign() <= 0 || len(s.items) == 0 {
		return &sequence{tuple: s.tuple}, nil
	}
	total := new(big.Int).Mul(count, big.NewInt(int64(len(s.items))*valueBytes))
	if !total.IsInt64() {
		total.SetInt64(math.MaxInt64 / 2)
	}
	if err := e.spend(total.Int64()); err != nil {
		return nil, err
	}
	items := make([]value, 0, total.Int64()/valueBytes)
	for n := count.Int64(); n > 0; n-- {
		if err := e.tick(); err != nil {
			return nil, err
		}
		items = append(items, s.items...)
	}
	return &sequence{tuple: s.tuple, items: items}, nil
}
