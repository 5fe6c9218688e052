# expect: partial-module 4; profile: solve
from sympy import *
import sys
print(1, file=sys.stderr)
