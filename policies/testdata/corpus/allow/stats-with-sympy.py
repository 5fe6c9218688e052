# profile: solve, tool
# topic: sympy
from sympy.stats import Normal, Binomial, E, variance, P, density, cdf
from sympy import Symbol, simplify, exp

X = Normal("X", 0, 1)
B = Binomial("B", 4, 0.5)
z = Symbol("z")
print(E(X), variance(X), P(B > 2), simplify(density(X)(z) / exp(-z**2 / 2)), E(B))
