# profile: solve, tool
from sympy import symbols
vars = symbols('x y')
print(vars)
for v in vars:
    print(v)
