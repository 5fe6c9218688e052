# expect: code-in-text 5
# kind: attribute-walk
import sympy

part = "exec('print(1)')"
value = sympy.sympify(part)
