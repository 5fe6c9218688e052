# expect: code-in-text 5
# kind: attribute-walk
import sympy as sp

print(sp.Poly("x + len(str(open))"))
