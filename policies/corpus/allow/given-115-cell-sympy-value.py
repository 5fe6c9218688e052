# profile: solve, tool
# topic: notebook cell
# expect-stdout-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
# expect-cell-value: (x - y)*(x + y)
from sympy import symbols, factor

x, y = symbols("x y")
factor(x**2 - y**2)
