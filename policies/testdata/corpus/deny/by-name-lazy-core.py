# expect: blocked-attribute 3
from sympy.core import cache
print(cache.lazy_function('os', 'listdir')('/'))
