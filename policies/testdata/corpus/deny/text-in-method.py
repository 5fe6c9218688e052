# expect: code-in-text 5
# kind: attribute-walk
from sympy.abc import x, y

print((x + y).subs({"x": "y", y: "[k for k in (1,)][0]"}))
