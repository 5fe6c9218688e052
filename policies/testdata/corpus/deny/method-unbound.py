# expect: blocked-keyword 4
import numpy as np
a = np.ones(3)
np.ndarray.resize(a, (1,), refcheck=False)
