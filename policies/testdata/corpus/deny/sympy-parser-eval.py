# expect: partial-module 3
# kind: attribute-walk
from sympy.parsing.sympy_parser import eval_expr, stringify_expr

print(eval_expr("1", {}, {}))
