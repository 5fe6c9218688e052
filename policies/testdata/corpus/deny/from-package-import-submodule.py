# expect: blocked-attribute 3, blocked-path 3
# kind: import
from numpy import ctypeslib, f2py

print(ctypeslib, f2py)
