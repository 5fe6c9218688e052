# expect: code-in-text 6
# kind: attribute-walk
import sympy

n = 3
print(sympy.sympify(f"{n} + open('x').fileno()"))
