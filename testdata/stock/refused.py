import numpy as np
np.load("x")
