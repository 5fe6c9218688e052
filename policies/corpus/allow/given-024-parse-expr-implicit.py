# profile: solve, tool
# topic: sympy parsing
# expect-stdout: 2*x**2 + 2*x
from sympy.parsing.sympy_parser import (
    parse_expr,
    standard_transformations,
    implicit_multiplication_application,
)

rules = standard_transformations + (implicit_multiplication_application,)
expr = parse_expr("2x(x + 1)", transformations=rules)
print(expr.expand())
