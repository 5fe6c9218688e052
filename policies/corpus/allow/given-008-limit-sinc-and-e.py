# profile: solve, tool
# topic: sympy calculus
# expect-stdout-sha256: 1f44a31642e54ff9f9e13cae74ae0084a73f638a4bdfed79cd140317bae3996c
from sympy import symbols, limit, sin, oo, E

x, n = symbols("x n")
print(limit(sin(x)/x, x, 0))
print(limit((1 + 1/n)**n, n, oo) == E)
