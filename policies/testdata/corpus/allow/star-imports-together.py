# profile: solve, tool
# topic: star imports
from math import *
from sympy import *
from numpy import array

test = [1, 2]
source = {"a": 1}
x, y, z = symbols("x y z")
info = Matrix([[x, y], [y, x]])
view = info.det()
print(factor(view), test, source, array([1.0]).tolist(), solve(x - 2, x), sqrt(16), pi)
