# profile: solve, tool
# topic: sympy algebra
# expect-stdout: ['1/(x + 2)', '2/(x + 1)']
import sympy as sp

x = sp.symbols("x")
f = (3*x + 5) / (x**2 + 3*x + 2)
pieces = sp.apart(f, x)
print(sorted(str(term) for term in pieces.args))
