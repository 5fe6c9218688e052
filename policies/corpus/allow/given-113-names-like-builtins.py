# profile: solve, tool
# topic: near miss
# expect-stdout: 3 2.5 A-
import sympy as sp

vars = sp.symbols("x y z")
def scale(input, dir=1):
    open_price, close_price = input
    return dir * (close_price - open_price)

prices = {"open": 10.0, "close": 12.5, "eval": "A-"}
print(len(vars), scale((prices["open"], prices["close"])), prices["eval"])
