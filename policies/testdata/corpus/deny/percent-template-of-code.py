# expect: code-in-text 5
# kind: attribute-walk
import sympy

print(sympy.sympify("%s('/etc/hostname')" % "open"))
