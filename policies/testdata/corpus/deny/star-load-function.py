# expect: blocked-path 4
from numpy import *
def f():
    load = 1
    return load
print(load('x'))
