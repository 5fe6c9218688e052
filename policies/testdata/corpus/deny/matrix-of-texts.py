# expect: code-in-text 5
# kind: attribute-walk
import sympy as sp

print(sp.Matrix([[1, "().__class__"], [0, "[].append.real"]]))
