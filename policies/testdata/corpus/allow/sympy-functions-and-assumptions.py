# profile: solve, tool
# topic: sympy
import sympy as sp
from sympy import Q, ask, refine, Abs

x = sp.Symbol("x", real=True)
n = sp.Symbol("n", integer=True, positive=True)
f = sp.Function("f")
eq = sp.Eq(f(x).diff(x, 2) - f(x), 0)
print(sp.dsolve(eq, f(x)))
print(sp.summation(1 / n**2, (n, 1, sp.oo)), refine(Abs(x), Q.positive(x)), ask(Q.even(2 * n)))
print(sp.Piecewise((x, x > 0), (0, True)).subs(x, -1), sp.re(3 + 4 * sp.I))
