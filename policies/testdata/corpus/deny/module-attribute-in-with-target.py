# expect: module-store 5
# kind: state-leak
import decimal

with decimal.localcontext() as decimal.getcontext:
    pass
