# profile: solve, tool
import numpy as np
a = np.array([1, 2, 3])
a.resize((2, 2))
print(np.resize(a, 3), a)
