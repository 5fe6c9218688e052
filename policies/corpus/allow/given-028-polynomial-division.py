# profile: solve, tool
# topic: sympy algebra
# expect-stdout: x**3 + x**2 + x + 1 | 0
import sympy as sp

x = sp.Symbol("x")
p = sp.Poly(x**4 - 1, x)
q = sp.Poly(x - 1, x)
quotient, remainder = sp.div(p, q)
print(quotient.as_expr(), "|", remainder.as_expr())
