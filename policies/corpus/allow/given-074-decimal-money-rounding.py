# profile: solve, tool
# topic: decimal
# expect-stdout: 27.12
from decimal import Decimal, ROUND_HALF_EVEN, localcontext

prices = ["19.995", "0.125", "7.005"]
with localcontext() as ctx:
    ctx.prec = 12
    total = sum(Decimal(p) for p in prices)
print(total.quantize(Decimal("0.01"), rounding=ROUND_HALF_EVEN))
