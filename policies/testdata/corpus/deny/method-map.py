# expect: unchecked-resize 4
import numpy as np
a = np.ones(3)
list(map(np.ndarray.resize, [a], [(1,)]))
