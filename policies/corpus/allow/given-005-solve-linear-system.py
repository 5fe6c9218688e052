# profile: solve, tool
# topic: sympy solve
# expect-stdout-sha256: 0443ef93bec1da2c51b55cc62cb5c540881ea324f4e70a03d6dbe61d8474c8f2
from sympy import symbols, Eq, solve

x, y, z = symbols("x y z")
system = [
    Eq(2*x + y - z, 8),
    Eq(-3*x - y + 2*z, -11),
    Eq(-2*x + y + 2*z, -3),
]
solution = solve(system, (x, y, z))
for name in (x, y, z):
    print(f"{name} = {solution[name]}")
