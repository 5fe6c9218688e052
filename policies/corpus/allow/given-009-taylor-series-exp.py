# profile: solve, tool
# topic: sympy series
# expect-stdout: x**4/24 + x**3/6 + x**2/2 + x + 1
import sympy as sp

x = sp.symbols("x")
series = sp.series(sp.exp(x), x, 0, 5)
print(series.removeO())
