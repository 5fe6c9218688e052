# profile: solve, tool
# topic: sympy algebra
# expect-stdout: 3 - a
from sympy import symbols, expand, collect

x, a = symbols("x a")
poly = expand((x + a) * (x - 2*a) * (x + 3))
grouped = collect(poly, x)
print(grouped.coeff(x, 2))
