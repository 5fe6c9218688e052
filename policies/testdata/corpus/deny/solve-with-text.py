# expect: code-in-text 5
# kind: attribute-walk
import sympy

print(sympy.solve("x - (1).real.numerator.__abs__()", "x"))
