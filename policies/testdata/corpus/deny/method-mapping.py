# expect: unchecked-resize 5
import numpy as np
a = np.ones(3)
d = {'refcheck': False}
r = a.resize
r((1,), **d)
