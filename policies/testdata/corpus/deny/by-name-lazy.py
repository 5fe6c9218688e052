# expect: blocked-attribute 3
import sympy
print(sympy.lazy_function('os', 'listdir')('/'))
