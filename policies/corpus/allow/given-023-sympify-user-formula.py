# profile: solve, tool
# topic: sympy parsing
# expect-stdout: [1, 3]
import sympy as sp

formula = "3*x**2 - 12*x + 9"
expr = sp.sympify(formula)
x = sp.symbols("x")
print(sorted(sp.solve(expr, x)))
