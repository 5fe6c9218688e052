# profile: solve, tool
# topic: fractions
# expect-stdout: [3, 8, 120]
from fractions import Fraction
from math import ceil

def egyptian(value):
    parts = []
    while value:
        d = ceil(1 / value)
        parts.append(d)
        value -= Fraction(1, d)
    return parts

print(egyptian(Fraction(7, 15)))
