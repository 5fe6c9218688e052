# expect: code-in-text 5
# kind: attribute-walk
import sympy

print(list(map(sympy.sympify, ["exec('print(1)')"])))
