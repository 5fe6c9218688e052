# expect: code-in-text 5
# kind: attribute-walk
from sympy import *

print(sympify("open('/etc/hostname').read()"))
