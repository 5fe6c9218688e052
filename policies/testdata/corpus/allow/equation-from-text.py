# profile: solve, tool
# topic: sympy
from sympy import sympify, solve, Eq, Symbol, S, Rational, nsimplify
from sympy.parsing.sympy_parser import parse_expr, standard_transformations, implicit_multiplication_application, convert_xor

lhs, rhs = "2*x**2 - 3*x".strip(), "5.5"
x = Symbol("x")
equation = Eq(sympify(lhs), sympify(rhs))
print(solve(equation, x))
print(parse_expr("3x^2 + sin(x)", transformations=standard_transformations + (implicit_multiplication_application, convert_xor)))
print(S("1/3") + Rational("0.25"), nsimplify("0.125"))
