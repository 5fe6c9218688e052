# expect: blocked-attribute 4
import sympy
m = [sympy][0]
print(m.lazy_function('os', 'listdir')('/'))
