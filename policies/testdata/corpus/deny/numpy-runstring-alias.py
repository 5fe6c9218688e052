# expect: blocked-attribute 3, partial-module 3
# kind: attribute-walk
from numpy.testing import runstring

runstring("x = 1", {})
