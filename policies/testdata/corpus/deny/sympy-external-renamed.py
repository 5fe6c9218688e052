# expect: blocked-attribute 3, blocked-path 3
# kind: import
from sympy import external as calculus

print(calculus.import_module("os"))
