# expect: code-in-text 6
# kind: attribute-walk
import sympy

for piece in ["x + 1", "print.real"]:
    print(sympy.S(piece))
