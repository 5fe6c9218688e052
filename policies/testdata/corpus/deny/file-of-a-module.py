# expect: private-attribute 5
# kind: info-leak
import sympy

print(sympy.__file__, sympy.__path__)
