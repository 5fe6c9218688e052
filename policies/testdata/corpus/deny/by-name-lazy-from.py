# expect: blocked-attribute 2
from sympy import lazy_function as f
print(f('os', 'listdir')('/'))
