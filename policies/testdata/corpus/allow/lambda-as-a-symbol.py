# profile: solve, tool
# topic: sympy
import sympy as sp

lam, mu = sp.symbols("lambda mu", positive=True)
A = sp.Matrix([[2, 1], [1, 2]])
char = (A - lam * sp.eye(2)).det()
print(sp.factor(char), sp.solve(char, lam), sp.symbols("x1:4"), sp.Symbol("x'"))
