# profile: solve, tool
# topic: decimal
# expect-stdout: 1.414213562373095048801688724209698078570
from decimal import Decimal, getcontext

getcontext().prec = 40
print(Decimal(2).sqrt())
