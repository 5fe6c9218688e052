# profile: solve, tool
from sympy import *
def test():
    return 1
print(test())
def f():
    view = 2
    return view
print(f())
