package main

import (
	"math"
	"math/big"
)

// sequenceFunctions take lists or tuples, or many numbers.
func sequenceFunctions() []*builtin {
	return []*builtin{
		{"fsum", params{style: one}, (*evaluator).fsum},
		{"prod", params{style: keywordOnly, min: 1, names: []string{"iterable", "start"}}, (*evaluator).prod},
		{"dist", params{style: positional, min: 2, max: 2}, (*evaluator).dist},
		{"hypot", params{style: positional, max: -1}, func(e *evaluator, a arguments) (value, error) {
			numbers, err := e.floats(a)
			return hypotenuse(numbers), err
		}},
	}
}

func (e *evaluator) floats(values []value) ([]float64, error) {
	numbers := make([]float64, 0, len(values))
	for _, v := range values {
		if err := e.tick(); err != nil {
			return nil, err
		}
		f, err := real64(v)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, f)
	}
	return numbers, nil
}

func (e *evaluator) dist(a arguments) (value, error) {
	p, err := elements(a[0])
	if err != nil {
		return nil, err
	}
	q, err := elements(a[1])
	if err != nil {
		return nil, err
	}
	if len(p) != len(q) {
		return nil, raise(valueError, "both points must have the same number of dimensions")
	}
	x, err := e.floats(p)
	if err != nil {
		return nil, err
	}
	y, err := e.floats(q)
	if err != nil {
		return nil, err
	}
	for i := range x {
		x[i] = math.Abs(x[i] - y[i])
	}
	return hypotenuse(x), nil
}

// fsum adds exactly and rounds once, by Shewchuk's partial sums (J. R. Shewchuk,
// Adaptive Precision Floating-Point Arithmetic, 1997).
func (e *evaluator) fsum(a arguments) (value, error) {
	items, err := elements(a[0])
	if err != nil {
		return nil, err
	}
	numbers, err := e.floats(items)
	if err != nil {
		return nil, err
	}
	var partials []float64
	special, infinities := 0.0, 0.0
	for _, x := range numbers {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			if math.IsInf(x, 0) {
				infinities += x
			}
			special += x
			continue
		}
		if partials = grow(partials, x); math.IsInf(partials[len(partials)-1], 0) {
			return nil, raise(overflowError, "intermediate overflow in fsum")
		}
	}
	switch {
	case math.IsNaN(infinities):
		return nil, raise(valueError, "-inf + inf in fsum")
	case special != 0:
		return special, nil
	}
	return sumExactly(partials), nil
}

// grow adds x to partial sums that do not overlap, smallest first.
func grow(partials []float64, x float64) []float64 {
	kept := partials[:0]
	for _, y := range partials {
		if math.Abs(x) < math.Abs(y) {
			x, y = y, x
		}
		high := x + y
		if math.IsInf(high, 0) {
			return append(kept, high)
		}
		if low := y - (high - x); low != 0 {
			kept = append(kept, low)
		}
		x = high
	}
	return append(kept, x)
}

// sumExactly adds floats without error and rounds once.
func sumExactly(numbers []float64) float64 {
	total := new(big.Float).SetPrec(2200)
	for _, x := range numbers {
		total.Add(total, new(big.Float).SetFloat64(x))
	}
	f, _ := total.Float64()
	return f
}

// prod multiplies from the left, integers exactly as long as there are only
// integers.
func (e *evaluator) prod(a arguments) (value, error) {
	items, err := elements(a[0])
	if err != nil {
		return nil, err
	}
	var result value = big.NewInt(1)
	if a.given(1) {
		result = a[1]
	}
	run := 0
	for run < len(items) && rankOf(items[run]) == rankInt {
		run++
	}
	if rankOf(result) == rankInt && run > 0 {
		product, err := e.prodInts(items[:run])
		if err != nil {
			return nil, err
		}
		if result, err = e.binary("*", result, product); err != nil {
			return nil, err
		}
		items = items[run:]
	}
	for _, item := range items {
		if err := e.tick(); err != nil {
			return nil, err
		}
		if result, err = e.binary("*", result, item); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// prodInts estimates the size first, and then multiplies as a balanced tree.
func (e *evaluator) prodInts(items []value) (*big.Int, error) {
	bits := 0.0
	for _, item := range items {
		if err := e.tick(); err != nil {
			return nil, err
		}
		i, _ := asInt(item)
		if i.Sign() == 0 {
			return new(big.Int), nil
		}
		bits += log2Int(i)
	}
	if bits > maxBits {
		return nil, tooLarge(bits)
	}
	return productTree(items), nil
}

func productTree(items []value) *big.Int {
	if len(items) == 1 {
		i, _ := asInt(items[0])
		return i
	}
	half := len(items) / 2
	return new(big.Int).Mul(productTree(items[:half]), productTree(items[half:]))
}

// extreme is min and max, with their keywords key and default.
func (e *evaluator) extreme(name string, args []value, names []string, named []value) (value, error) {
	if len(args) == 0 {
		return nil, raise(typeError, "%s expected at least 1 argument, got 0", name)
	}
	options := map[string]value{}
	for i, word := range names {
		if word != "key" && word != "default" {
			return nil, raise(typeError, "'%s' is an invalid keyword argument for %s()", word, name)
		}
		options[word] = named[i]
	}
	items := args
	switch {
	case len(args) > 1 && options["default"] != nil:
		return nil, raise(typeError, "Cannot specify a default for %s() with multiple positional arguments", name)
	case len(args) == 1:
		var err error
		if items, err = elements(args[0]); err != nil {
			return nil, err
		}
	}
	if len(items) == 0 {
		if v := options["default"]; v != nil {
			return v, nil
		}
		return nil, raise(valueError, "%s() arg is an empty sequence", name)
	}
	return e.best(name, items, options["key"])
}

// best is the first of items that no other beats.
func (e *evaluator) best(name string, items []value, key value) (value, error) {
	op := map[string]string{"min": "<", "max": ">"}[name]
	best, bestKey := items[0], value(nil)
	for i, item := range items {
		k, err := e.keyOf(key, item)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			bestKey = k
			continue
		}
		wins, err := e.ordered(op, k, bestKey)
		if err != nil {
			return nil, err
		}
		if wins {
			best, bestKey = item, k
		}
	}
	return best, nil
}

func (e *evaluator) keyOf(key, item value) (value, error) {
	if _, absent := key.(none); key == nil || absent {
		return item, nil
	}
	b, ok := key.(*builtin)
	if !ok {
		return nil, raise(typeError, "'%s' object is not callable", typeName(key))
	}
	return e.invoke(b, []value{item}, nil, nil)
}
