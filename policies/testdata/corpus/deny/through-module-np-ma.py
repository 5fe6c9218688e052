# expect: blocked-attribute 3
import numpy as np
print(np.ma.extras.np.load('x'))
