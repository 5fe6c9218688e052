# profile: solve, tool
import numpy as np
for f in [np.sin, np.cos, np.tan, np.exp, np.log, np.sqrt, np.abs, np.sinh, np.cosh, np.tanh]:
    print(f(1.0))
