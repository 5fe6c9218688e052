# expect: partial-module 3
# kind: attribute-walk
from sympy.utilities.lambdify import lambdastr

print(lambdastr("x", "x"))
