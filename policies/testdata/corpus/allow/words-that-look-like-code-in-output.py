# profile: solve, tool
# topic: near miss
import sympy as sp

x = sp.symbols("x")
p = sp.Poly(x**2 + 1, x)
print("p.eval(2) =", p.eval(2))
print("the open(0, 1) interval:", sp.Interval.open(0, 1))
print("class methods such as __init__ and __repr__ are special")
print(f"exec() time: {0}, f.diff(x) = {p.as_expr().diff(x)}")
