# expect: blocked-path 4
import numpy as np
def f(m):
    return m.load('x')
class X:
    load = 1
print(f(np))
