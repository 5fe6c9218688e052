# expect: blocked-attribute 3
import numpy as np
print(np.polynomial.polynomial.np.load('x'))
