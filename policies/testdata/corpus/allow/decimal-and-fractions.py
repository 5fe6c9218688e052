# profile: solve, tool
# topic: decimal
import decimal
from decimal import Decimal, ROUND_HALF_UP
from fractions import Fraction

decimal.getcontext().prec = 30
ctx = decimal.getcontext()
ctx.rounding = ROUND_HALF_UP
print(Decimal(1) / Decimal(7), Decimal("2.675").quantize(Decimal("0.01")), Fraction("3/4") + Fraction(1, 4), Fraction(0.5).limit_denominator(10))
with decimal.localcontext() as local:
    local.prec = 5
    print(Decimal(2).sqrt())
