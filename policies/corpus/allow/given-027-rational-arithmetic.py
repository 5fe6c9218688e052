# profile: solve, tool
# topic: sympy algebra
# expect-stdout: 1/2 3/4 2*sqrt(2)
from sympy import Rational, nsimplify, sqrt

third = Rational(1, 3)
print(third + Rational(1, 6), nsimplify(0.75), sqrt(8))
