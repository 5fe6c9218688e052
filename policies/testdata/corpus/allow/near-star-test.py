# profile: solve, tool
from sympy import *
test = x = symbols('x')
print(test + 1)
source = 5
print(source)
