# expect: code-in-text 5
# kind: attribute-walk
import sympy

f = sympy.Function("(lambda: print(1))")
print(sympy.lambdify([], f(1))())
