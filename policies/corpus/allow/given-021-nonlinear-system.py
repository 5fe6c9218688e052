# profile: solve, tool
# topic: sympy solve
# expect-stdout: [(-3, -4), (4, 3)]
import sympy as sp

x, y = sp.symbols("x y", real=True)
points = sp.solve([x**2 + y**2 - 25, x - y - 1], [x, y])
print(sorted(points))
