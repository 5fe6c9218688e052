import numpy as np
print(np.array([1]))
