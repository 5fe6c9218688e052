# profile: solve, tool
# topic: sympy algebra
# expect-stdout: (x - 2)*(x - 1)*(x + 1)*(x + 2)
import sympy as sp

x = sp.symbols("x")
expr = x**4 - 5*x**2 + 4
print(sp.factor(expr))
