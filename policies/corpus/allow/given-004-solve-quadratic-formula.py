# profile: solve, tool
# topic: sympy solve
# expect-stdout: 2 [0, 0]
import sympy as sp

a, b, c, x = sp.symbols("a b c x")
roots = sp.solve(sp.Eq(a*x**2 + b*x + c, 0), x)
check = [sp.simplify(a*r**2 + b*r + c) for r in roots]
print(len(roots), check)
