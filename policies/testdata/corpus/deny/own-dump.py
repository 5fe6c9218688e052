# expect: blocked-attribute 5
import numpy as np
class X:
    dump = 1
np.array([1]).dump('/tmp/x')
