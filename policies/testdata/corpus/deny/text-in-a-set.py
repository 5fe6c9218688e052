# expect: code-in-text 5
# kind: attribute-walk
import sympy

print(sympy.FiniteSet(*{"x", "(lambda: 1)()"}))
