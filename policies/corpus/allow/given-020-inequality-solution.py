# profile: solve, tool
# topic: sympy solve
# expect-stdout: True
from sympy import symbols, solve_univariate_inequality, Interval, S

x = symbols("x", real=True)
region = solve_univariate_inequality(x**2 - x - 6 <= 0, x, relational=False)
print(region == Interval(-2, 3))
