# profile: solve, tool
# topic: sympy calculus
# expect-stdout: sqrt(pi)
import sympy as sp

x = sp.symbols("x")
result = sp.integrate(sp.exp(-x**2), (x, -sp.oo, sp.oo))
print(result)
