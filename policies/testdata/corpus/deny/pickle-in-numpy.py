# expect: blocked-attribute 3, blocked-import 3
# kind: import
from numpy.core.numeric import pickle

print(pickle)
