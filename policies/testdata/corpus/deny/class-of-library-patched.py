# expect: module-store 5, private-attribute 5
# kind: state-leak
from fractions import Fraction

Fraction.__str__ = lambda self: "7"
print(Fraction(1, 2))
