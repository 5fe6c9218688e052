package main

import (
	"fmt"
	"math/big"
)

// value is what an expression has: *big.Int, float64, complex128, boolean,
// none, ellipsis, *sequence or *builtin. Values are never changed once made.
type value any

type (
	boolean  bool
	none     struct{}
	ellipsis struct{}
)

// sequence is a list or a tuple.
type sequence struct {
	tuple bool
	items []value
}

// typeName is Python's name of v's type.
func typeName(v value) string {
	switch v := v.(type) {
	case *big.Int:
		return "int"
	case float64:
		return "float"
	case complex128:
		return "complex"
	case boolean:
		return "bool"
	case none:
		return "NoneType"
	case ellipsis:
		return "ellipsis"
	case *sequence:
		if v.tuple {
			return "tuple"
		}
		return "list"
	}
	return "builtin_function_or_method"
}

// truth is v as a condition.
func truth(v value) bool {
	switch v := v.(type) {
	case *big.Int:
		return v.Sign() != 0
	case float64:
		return v != 0
	case complex128:
		return v != 0
	case boolean:
		return bool(v)
	case none:
		return false
	case *sequence:
		return len(v.items) > 0
	}
	return true
}

// asInt gives v as an integer if it is one; booleans are.
func asInt(v value) (*big.Int, bool) {
	switch v := v.(type) {
	case *big.Int:
		return v, true
	case boolean:
		if v {
			return big.NewInt(1), true
		}
		return new(big.Int), true
	}
	return nil, false
}

// asIndex is v as an integer argument.
func asIndex(v value) (*big.Int, error) {
	if i, ok := asInt(v); ok {
		return i, nil
	}
	return nil, raise(typeError, "'%s' object cannot be interpreted as an integer", typeName(v))
}

// real64 is v as a float argument.
func real64(v value) (float64, error) {
	if f, ok := v.(float64); ok {
		return f, nil
	}
	i, ok := asInt(v)
	if !ok {
		return 0, raise(typeError, "must be real number, not %s", typeName(v))
	}
	return intToFloat(i)
}

// elements are the items of v, which must be a sequence.
func elements(v value) ([]value, error) {
	if s, ok := v.(*sequence); ok {
		return s.items, nil
	}
	return nil, raise(typeError, "'%s' object is not iterable", typeName(v))
}

func unsupported(op string, a, b value) error {
	if op == "**" {
		op = "** or pow()"
	}
	return raise(typeError, "unsupported operand type(s) for %s: '%s' and '%s'", op, typeName(a), typeName(b))
}

func unsupportedUnary(op string, v value) error {
	return raise(typeError, "bad operand type for %s: '%s'", op, typeName(v))
}

// String is how a function prints.
func (b *builtin) String() string { return fmt.Sprintf("<built-in function %s>", b.name) }
