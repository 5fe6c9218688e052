package main

import (
	"fmt"
	"math"
	"testing"
)

// TestExactResultsAreExact: where a result is a float, no function misses it.
// A logarithm that is a bit low would make floor(log10(1000)) 2.
func TestExactResultsAreExact(t *testing.T) {
	for k := 1; k <= 22; k++ {
		ten := math.Pow10(k)
		check(t, fmt.Sprintf("log10(1e%d)", k), logarithm10(ten), float64(k))
		check(t, fmt.Sprintf("log10(1e-%d)", k), logarithm10(1/ten), -float64(k))
		check(t, fmt.Sprintf("10**%d", k), power(10, float64(k)), ten)
	}
	for k := -1074; k <= 1023; k++ {
		check(t, fmt.Sprintf("log2(2**%d)", k), logarithm2(math.Ldexp(1, k)), float64(k))
		check(t, fmt.Sprintf("exp2(%d)", k), exponential2(float64(k)), math.Ldexp(1, k))
	}
	for k := 1; k <= 300; k++ {
		x := float64(k)
		check(t, fmt.Sprintf("cbrt(%d³)", k), cubeRoot(-x*x*x), -x)
		check(t, fmt.Sprintf("hypot(3·%d, 4·%d)", k, k), hypotenuse([]float64{3 * x, -4 * x}), 5*x)
		check(t, fmt.Sprintf("(%d.5)**2", k), power(x+0.5, 2), (x+0.5)*(x+0.5))
		check(t, fmt.Sprintf("(%d²)**1.5", k), power(x*x, 1.5), x*x*x)
		check(t, fmt.Sprintf("%d**-1", k), power(x, -1), 1/x)
	}
	for n := 1; n <= 22; n++ {
		factorial := 1.0
		for i := 2; i < n; i++ {
			factorial *= float64(i)
		}
		have, err := gamma(float64(n))
		check(t, fmt.Sprintf("gamma(%d)", n), have, factorial)
		if err != nil {
			t.Error(err)
		}
	}
}

// TestNearestFloats holds results against known digits, rounded to a float by
// the compiler.
func TestNearestFloats(t *testing.T) {
	for name, c := range map[string]struct{ have, want float64 }{
		"sin(π as a float)":   {sine(math.Pi), 1.2246467991473531772e-16},
		"cos(π/2 as a float)": {cosine(math.Pi / 2), 6.1232339957367658860e-17},
		"tan(π/2 as a float)": {tangent(math.Pi / 2), 1.6331239353195369756e16},
		"sin(1e22)":           {sine(1e22), -0.85220084976718880177},
		"exp(1)":              {exponential(1), math.E},
		"log(2)":              {logarithm(2), math.Ln2},
		"atan2(1, 1)":         {arctan2(1, 1), math.Pi / 4},
		"acos(-1)":            {arccos(-1), math.Pi},
		"asin(1)":             {arcsin(1), math.Pi / 2},
		"gamma(0.5)":          {first(gamma(0.5)), 1.7724538509055160273},
		"lgamma(0.5)":         {first(logGamma(0.5)), 0.57236494292470008707},
		"10**17.15":           {power(10, 17.15), 141253754462274968.009},
		"expm1(1e-10)":        {exponentialM1(1e-10), 1.00000000005e-10},
		"log1p(1e-10)":        {logarithm1p(1e-10), 9.9999999995000003644e-11},
	} {
		check(t, name, c.have, c.want)
	}
}

// TestTinyArguments: near zero these functions are their argument.
func TestTinyArguments(t *testing.T) {
	for name, f := range map[string]func(float64) float64{
		"sin": sine, "tan": tangent, "asin": arcsin, "atan": arctan, "sinh": hyperbolicSine, "tanh": hyperbolicTangent,
		"asinh": arsinh, "atanh": artanh, "expm1": exponentialM1, "log1p": logarithm1p,
	} {
		for _, x := range []float64{5e-324, 1e-310, 1e-300, 1e-200, 1e-161, 1e-150, 1e-100, 1e-50, 1e-20} {
			check(t, fmt.Sprintf("%s(%g)", name, x), f(x), x)
			check(t, fmt.Sprintf("%s(%g)", name, -x), f(-x), -x)
		}
	}
}

func first(x float64, _ error) float64 { return x }

func check(t *testing.T, name string, have, want float64) {
	t.Helper()
	if have != want {
		t.Errorf("%s = %v, want %v", name, have, want)
	}
}
