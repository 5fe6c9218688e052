# profile: solve, tool
# topic: sympy stats
# expect-stdout: 7/2 35/12 1/3
from sympy.stats import Die, E, variance, P

X = Die("X", 6)
print(E(X), variance(X), P(X > 4))
