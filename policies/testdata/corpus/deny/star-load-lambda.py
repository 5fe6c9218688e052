# expect: blocked-path 3
from numpy import *
f = lambda load: load
print(load('x'))
