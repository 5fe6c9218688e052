# profile: solve, tool
# topic: sympy star import
# expect-stdout: cos(y) x**3/3 [-sqrt(2), sqrt(2)]
from sympy import *

x, y = symbols("x y")
f = x*sin(y)
print(diff(f, x, y), integrate(x**2, x), solve(x**2 - 2, x))
