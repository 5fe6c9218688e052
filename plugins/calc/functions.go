package main

import (
	"math"
)

// module holds the functions of Python 3.11's module math, and bare those that
// an expression calls without a prefix: the same but for pow, which is the
// built-in one there, and with four built-in functions beside them. Both are
// tables: nothing writes to them.
var (
	module = moduleTable()
	bare   = bareTable()
)

func bareTable() map[string]*builtin {
	table := moduleTable()
	for _, b := range []*builtin{
		{"abs", params{style: one, method: "abs"}, (*evaluator).abs},
		{"round", params{style: byName, min: 1, max: 2, names: []string{"number", "ndigits"}}, (*evaluator).round},
		{"pow", params{style: byName, min: 2, max: 3, names: []string{"base", "exp", "mod"}}, (*evaluator).pow},
		{"min", params{style: manyStyle, names: []string{"key", "default"}}, nil},
		{"max", params{style: manyStyle, names: []string{"key", "default"}}, nil},
	} {
		table[b.name] = b
	}
	return table
}

func moduleTable() map[string]*builtin {
	table := map[string]*builtin{}
	for _, group := range [][]*builtin{plainFunctions(), pairFunctions(), integerFunctions(), sequenceFunctions(), partFunctions()} {
		for _, b := range group {
			table[b.name] = b
		}
	}
	return table
}

// plainFunctions take a float and give one.
func plainFunctions() []*builtin {
	domain := map[string]func(float64) float64{
		"acos": arccos, "acosh": arcosh, "asin": arcsin, "asinh": arsinh, "atan": arctan, "atanh": artanh,
		"cbrt": cubeRoot, "cos": cosine, "erf": math.Erf, "erfc": math.Erfc, "fabs": math.Abs, "log1p": logarithm1p,
		"sin": sine, "sqrt": math.Sqrt, "tan": tangent, "tanh": hyperbolicTangent,
	}
	overflowing := map[string]func(float64) float64{
		"cosh": hyperbolicCosine, "exp": exponential, "exp2": exponential2, "expm1": exponentialM1, "sinh": hyperbolicSine,
	}
	var all []*builtin
	for name, f := range domain {
		all = append(all, plain(name, f, false))
	}
	for name, f := range overflowing {
		all = append(all, plain(name, f, true))
	}
	return append(all,
		total("degrees", func(x float64) float64 { return x * (180 / math.Pi) }),
		total("radians", func(x float64) float64 { return x * (math.Pi / 180) }),
		total("ulp", ulp),
		single("gamma", gamma),
		single("lgamma", logGamma),
		&builtin{"log", params{style: logStyle}, (*evaluator).log},
		unary("log2", func(v value) (value, error) { return logOf(v, logarithm2) }),
		unary("log10", func(v value) (value, error) { return logOf(v, logarithm10) }),
		unary("isfinite", ask(func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) })),
		unary("isinf", ask(func(x float64) bool { return math.IsInf(x, 0) })),
		unary("isnan", ask(math.IsNaN)),
	)
}

// unary makes a function of one argument.
func unary(name string, f func(value) (value, error)) *builtin {
	return &builtin{name, params{style: one}, func(_ *evaluator, a arguments) (value, error) { return f(a[0]) }}
}

// single makes a function of one float.
func single(name string, f func(float64) (float64, error)) *builtin {
	return unary(name, func(v value) (value, error) {
		x, err := real64(v)
		if err != nil {
			return nil, err
		}
		return f(x)
	})
}

// total makes a function that is right for every float.
func total(name string, f func(float64) float64) *builtin {
	return single(name, func(x float64) (float64, error) { return f(x), nil })
}

// plain makes a function whose NaN is a domain error and whose infinity is a
// range error, if it may overflow, or a pole.
func plain(name string, f func(float64) float64, overflows bool) *builtin {
	return single(name, func(x float64) (float64, error) {
		y := f(x)
		switch {
		case math.IsNaN(y) && !math.IsNaN(x):
			return 0, domainError()
		case math.IsInf(y, 0) && !math.IsInf(x, 0) && overflows:
			return 0, rangeError()
		case math.IsInf(y, 0) && !math.IsInf(x, 0):
			return 0, domainError()
		}
		return y, nil
	})
}

func ask(f func(float64) bool) func(value) (value, error) {
	return func(v value) (value, error) {
		x, err := real64(v)
		return boolean(f(x)), err
	}
}

func domainError() error { return raise(valueError, "math domain error") }
func rangeError() error  { return raise(overflowError, "math range error") }

// pairFunctions take two floats and give one.
func pairFunctions() []*builtin {
	return []*builtin{
		pair("atan2", func(x, y float64) (float64, error) { return arctan2(x, y), nil }),
		pair("copysign", func(x, y float64) (float64, error) { return math.Copysign(x, y), nil }),
		pair("nextafter", func(x, y float64) (float64, error) { return nextAfter(x, y), nil }),
		pair("fmod", fmod),
		pair("remainder", remainder),
		pair("pow", powReal),
		{"isclose", params{style: keywordOnly, min: 2, names: []string{"a", "b", "rel_tol", "abs_tol"}}, isClose},
	}
}

func pair(name string, f func(x, y float64) (float64, error)) *builtin {
	return &builtin{name, params{style: positional, min: 2, max: 2}, func(_ *evaluator, a arguments) (value, error) {
		x, err := real64(a[0])
		if err != nil {
			return nil, err
		}
		y, err := real64(a[1])
		if err != nil {
			return nil, err
		}
		return f(x, y)
	}}
}

func nextAfter(x, y float64) float64 {
	if x == y {
		return y // the sign of a zero is y's
	}
	return math.Nextafter(x, y)
}

func fmod(x, y float64) (float64, error) {
	if math.IsInf(x, 0) && !math.IsNaN(y) || y == 0 && !math.IsNaN(x) {
		return 0, domainError()
	}
	return math.Mod(x, y), nil
}

func remainder(x, y float64) (float64, error) {
	if math.IsInf(x, 0) && !math.IsNaN(y) || y == 0 && !math.IsNaN(x) {
		return 0, domainError()
	}
	return math.Remainder(x, y), nil
}

// powReal is math.pow, which never leaves the real numbers.
func powReal(x, y float64) (float64, error) {
	z := power(x, y)
	finite := !math.IsInf(x, 0) && !math.IsInf(y, 0) && !math.IsNaN(x) && !math.IsNaN(y)
	switch {
	case finite && (math.IsNaN(z) || x == 0 && y < 0):
		return 0, domainError()
	case finite && math.IsInf(z, 0):
		return 0, rangeError()
	}
	return z, nil
}

func isClose(_ *evaluator, a arguments) (value, error) {
	numbers := [4]float64{2: 1e-9}
	for i := range numbers {
		if !a.given(i) {
			continue
		}
		f, err := real64(a[i])
		if err != nil {
			return nil, err
		}
		numbers[i] = f
	}
	x, y, relative, absolute := numbers[0], numbers[1], numbers[2], numbers[3]
	switch {
	case relative < 0 || absolute < 0:
		return nil, raise(valueError, "tolerances must be non-negative")
	case x == y:
		return boolean(true), nil
	case math.IsInf(x, 0) || math.IsInf(y, 0):
		return boolean(false), nil
	}
	apart := math.Abs(y - x)
	return boolean(apart <= math.Abs(relative*y) || apart <= math.Abs(relative*x) || apart <= absolute), nil
}

// ulp is the value of the last bit of x.
func ulp(x float64) float64 {
	x = math.Abs(x)
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return x
	}
	next := math.Nextafter(x, math.Inf(1))
	if math.IsInf(next, 1) {
		return x - math.Nextafter(x, 0)
	}
	return next - x
}

// log is math.log with an optional base.
func (e *evaluator) log(a arguments) (value, error) {
	number, err := logOf(a[0], logarithm)
	if err != nil || !a.given(1) {
		return number, err
	}
	base, err := logOf(a[1], logarithm)
	if err != nil {
		return nil, err
	}
	return divideFloats("/", number.(float64), base.(float64))
}
