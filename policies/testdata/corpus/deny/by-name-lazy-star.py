# expect: blocked-path 3
from sympy import *
print(lazy_function('os', 'listdir')('/'))
