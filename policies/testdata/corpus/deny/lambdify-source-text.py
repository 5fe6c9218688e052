# expect: code-in-text 6
# kind: attribute-walk
import sympy as sp

x = sp.symbols("x")
f = sp.lambdify(["x=[c for c in ().__class__.__mro__]"], x)
print(f(1))
