# expect: blocked-keyword 5
import numpy as np
a = np.ones(3)
r = a.resize
r((1,), refcheck=False)
