package main

import (
	"math"
	"math/big"
)

// bernoulli are B2, B4, … B30 as fractions, for Stirling's series.
var bernoulli = [...][2]int64{
	{1, 6}, {-1, 30}, {1, 42}, {-1, 30}, {5, 66}, {-691, 2730}, {7, 6}, {-3617, 510}, {43867, 798}, {-174611, 330},
	{854513, 138}, {-236364091, 2730}, {8553103, 6}, {-23749461029, 870}, {8615841276005, 14322},
}

// stirling is where the series with those terms is good to about 2**-135.
const stirling = 40

// logGammaBig gives log|Γ(x)| and the sign of Γ(x): Stirling's series at x+n,
// less the n factors between. x is finite, no pole, and above -1000.
func logGammaBig(x float64) (log *big.Float, negative bool) {
	z := fromFloat(x, work)
	one := newFloat(work).SetInt64(1)
	factors := newFloat(work).SetInt64(1)
	for z.Cmp(newFloat(work).SetInt64(stirling)) < 0 {
		factors.Mul(factors, z)
		z.Add(z, one)
	}
	negative = factors.Sign() < 0
	log = stirlingSeries(z)
	return log.Sub(log, logBig(factors.Abs(factors))), negative
}

// stirlingSeries is (z-1/2)log z - z + log(2π)/2 + Σ B2k/(2k(2k-1)z^(2k-1)).
func stirlingSeries(z *big.Float) *big.Float {
	sum := newFloat(work).Sub(z, big.NewFloat(0.5))
	sum.Mul(sum, logBig(z))
	sum.Sub(sum, z)
	turn := newFloat(work).Mul(piBits(), newFloat(work).SetInt64(2))
	sum.Add(sum, scale(logBig(turn), -1))
	power := newFloat(work).Set(z)
	square := newFloat(work).Mul(z, z)
	for i, b := range bernoulli {
		k := 2 * int64(i+1)
		term := newFloat(work).Quo(newFloat(work).SetInt64(b[0]), newFloat(work).SetInt64(b[1]*k*(k-1)))
		sum.Add(sum, term.Quo(term, power))
		power.Mul(power, square)
	}
	return sum
}

// gamma is math.gamma, exact where factorials are.
func gamma(x float64) (float64, error) {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x, nil
	case math.IsInf(x, -1), x == 0, x < 0 && x == math.Floor(x):
		return 0, domainError()
	case x > 172:
		return 0, rangeError()
	case x < -190: // below the smallest float, with the sign that it would have
		return math.Copysign(0, math.Mod(math.Floor(x), 2)+0.5), nil
	}
	log, negative := logGammaBig(x)
	if log.Cmp(big.NewFloat(710)) > 0 {
		return 0, rangeError()
	}
	y := round53(expBig(log, work))
	if negative {
		y = -y
	}
	if math.IsInf(y, 0) {
		return 0, rangeError()
	}
	return y, nil
}

// logGamma is math.lgamma.
func logGamma(x float64) (float64, error) {
	switch {
	case math.IsNaN(x):
		return x, nil
	case math.IsInf(x, 0):
		return math.Inf(1), nil
	case x <= 0 && x == math.Floor(x):
		return 0, domainError()
	case x == 1 || x == 2:
		return 0, nil
	}
	if x > -1000 && x < 1e300 {
		log, _ := logGammaBig(x)
		return round53(log), nil
	}
	y, _ := math.Lgamma(x)
	if math.IsInf(y, 0) {
		return 0, rangeError()
	}
	return y, nil
}
