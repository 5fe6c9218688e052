# profile: solve, tool
# topic: sympy algebra
# expect-stdout: 0
from sympy import symbols, sin, cos, simplify, trigsimp

theta = symbols("theta")
expr = sin(theta)**4 - cos(theta)**4 + cos(2*theta)
print(simplify(trigsimp(expr)))
