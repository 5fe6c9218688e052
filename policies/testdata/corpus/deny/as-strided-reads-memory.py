# expect: blocked-attribute 3, partial-module 3
# kind: memory
from numpy.lib.stride_tricks import as_strided
import numpy as np

print(as_strided(np.zeros(1), shape=(10**6,), strides=(8,))[-1])
