# expect: code-in-text 6
# kind: attribute-walk
import sympy as sp

x = sp.symbols("x")
print(sp.integrate(x, (x, 0, "(lambda: 3)()")))
