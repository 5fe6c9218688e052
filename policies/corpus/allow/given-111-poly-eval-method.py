# profile: solve, tool
# topic: near miss
# expect-stdout: 15 3 2 3/4
import sympy as sp

x = sp.symbols("x")
p = sp.Poly(2*x**3 - x + 1, x)
print(p.eval(2), p.degree(), p.LC(), sp.S(3)/4)
