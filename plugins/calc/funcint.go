package main

import (
	"math"
	"math/big"
)

// integerFunctions take and give integers of any size.
func integerFunctions() []*builtin {
	many := params{style: positional, max: -1}
	return []*builtin{
		{"gcd", many, (*evaluator).gcd},
		{"lcm", many, (*evaluator).lcm},
		{"factorial", params{style: one}, func(e *evaluator, a arguments) (value, error) { return e.factorial(a[0]) }},
		{"comb", params{style: positional, min: 2, max: 2}, (*evaluator).comb},
		{"perm", params{style: positional, min: 1, max: 2}, (*evaluator).perm},
		{"isqrt", params{style: one}, (*evaluator).isqrt},
	}
}

func (e *evaluator) gcd(a arguments) (value, error) {
	return e.fold(a, new(big.Int), func(x, y *big.Int) (value, error) {
		return e.sized(new(big.Int).GCD(nil, nil, new(big.Int).Abs(x), new(big.Int).Abs(y)))
	})
}

func (e *evaluator) lcm(a arguments) (value, error) {
	return e.fold(a, big.NewInt(1), func(x, y *big.Int) (value, error) {
		if x.Sign() == 0 || y.Sign() == 0 {
			return new(big.Int), nil
		}
		common := new(big.Int).GCD(nil, nil, new(big.Int).Abs(x), new(big.Int).Abs(y))
		common.Quo(new(big.Int).Abs(x), common)
		return e.multiply(common, new(big.Int).Abs(y))
	})
}

// fold joins integers by f, which gives an integer.
func (e *evaluator) fold(a arguments, result *big.Int, f func(x, y *big.Int) (value, error)) (value, error) {
	for _, v := range a {
		i, err := asIndex(v)
		if err != nil {
			return nil, err
		}
		if err := e.expired(); err != nil {
			return nil, err
		}
		joined, err := f(result, i)
		if err != nil {
			return nil, err
		}
		result = joined.(*big.Int)
	}
	return result, nil
}

func (e *evaluator) isqrt(a arguments) (value, error) {
	i, err := asIndex(a[0])
	if err != nil {
		return nil, err
	}
	if i.Sign() < 0 {
		return nil, raise(valueError, "isqrt() argument must be nonnegative")
	}
	return e.sized(new(big.Int).Sqrt(i))
}

func (e *evaluator) factorial(v value) (value, error) {
	n, err := asIndex(v)
	switch {
	case err != nil:
		return nil, err
	case n.Sign() < 0:
		return nil, raise(valueError, "factorial() not defined for negative values")
	case !n.IsInt64():
		return nil, raise(overflowError, "factorial() argument should not exceed %d", int64(math.MaxInt64))
	}
	if bits := logFactorial(approx(n)); bits > maxBits {
		return nil, tooLarge(bits)
	}
	return e.sized(new(big.Int).MulRange(1, n.Int64()))
}

// logFactorial is the binary logarithm of n!.
func logFactorial(n float64) float64 {
	f, _ := math.Lgamma(n + 1)
	return f / math.Ln2
}

// chosen checks the arguments of comb and perm.
func chosen(a arguments) (n, k *big.Int, err error) {
	if n, err = asIndex(a[0]); err != nil {
		return nil, nil, err
	}
	if k, err = asIndex(a[1]); err != nil {
		return nil, nil, err
	}
	switch {
	case n.Sign() < 0:
		return nil, nil, raise(valueError, "n must be a non-negative integer")
	case k.Sign() < 0:
		return nil, nil, raise(valueError, "k must be a non-negative integer")
	}
	return n, k, nil
}

func (e *evaluator) comb(a arguments) (value, error) {
	n, k, err := chosen(a)
	if err != nil {
		return nil, err
	}
	rest := new(big.Int).Sub(n, k)
	if rest.Sign() < 0 {
		return new(big.Int), nil
	}
	if rest.Cmp(k) < 0 {
		k = rest
	}
	if !k.IsInt64() {
		return nil, raise(overflowError, "min(n - k, k) must not exceed %d", int64(math.MaxInt64))
	}
	// k is at most n/2, so the result has at least k bits.
	if bits := combBits(n, approx(k)); bits > maxBits+2 || k.Int64() > maxBits {
		return nil, tooLarge(max(bits, approx(k)))
	}
	result, err := e.choose(n, k.Int64())
	if err != nil {
		return nil, err
	}
	return e.sized(result)
}

// choose is n over k, by runs of factors whose product stays below a quarter of
// maxBits: after each run the result so far is n over i, so divisions are exact
// and what is held is never much larger than the answer.
func (e *evaluator) choose(n *big.Int, k int64) (*big.Int, error) {
	run := max(1, int64(maxBits/4)/int64(n.BitLen()+1))
	result := big.NewInt(1)
	for i := int64(0); i < k; i += run {
		if err := e.expired(); err != nil {
			return nil, err
		}
		step := min(run, k-i)
		factors, err := e.falling(new(big.Int).Sub(n, big.NewInt(i)), step)
		if err != nil {
			return nil, err
		}
		result.Mul(result, factors)
		result.Quo(result, new(big.Int).MulRange(i+1, i+step))
	}
	return result, nil
}

// combBits estimates the size of n over k, for k of at most n/2.
func combBits(n *big.Int, k float64) float64 {
	if k == 0 {
		return 1
	}
	if x := approx(n); x < 1<<40 {
		return logFactorial(x) - logFactorial(k) - logFactorial(x-k)
	}
	return k*log2Int(n) - logFactorial(k)
}

func (e *evaluator) perm(a arguments) (value, error) {
	if _, isNone := a[len(a)-1].(none); len(a) == 1 || isNone {
		return e.factorial(a[0])
	}
	n, k, err := chosen(a)
	if err != nil {
		return nil, err
	}
	if k.Cmp(n) > 0 {
		return new(big.Int), nil
	}
	if !k.IsInt64() {
		return nil, raise(overflowError, "k must not exceed %d", int64(math.MaxInt64))
	}
	if bits := permBits(n, approx(k)); bits > maxBits+2 {
		return nil, tooLarge(bits)
	}
	product, err := e.falling(n, k.Int64())
	if err != nil {
		return nil, err
	}
	return e.sized(product)
}

// permBits estimates the size of n!/(n-k)!.
func permBits(n *big.Int, k float64) float64 {
	if k == 0 {
		return 1
	}
	if x := approx(n); x < 1<<40 {
		return logFactorial(x) - logFactorial(x-k)
	}
	return k * log2Int(n)
}

// falling is n(n-1)…(n-k+1), multiplied as a balanced tree. Callers
// estimate its size first.
func (e *evaluator) falling(n *big.Int, k int64) (*big.Int, error) {
	if err := e.tick(); err != nil {
		return nil, err
	}
	switch k {
	case 0:
		return big.NewInt(1), nil
	case 1:
		return new(big.Int).Set(n), nil
	}
	half := k / 2
	left, err := e.falling(n, half)
	if err != nil {
		return nil, err
	}
	right, err := e.falling(new(big.Int).Sub(n, big.NewInt(half)), k-half)
	if err != nil {
		return nil, err
	}
	return left.Mul(left, right), nil
}
