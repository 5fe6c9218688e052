# expect: blocked-path 15
# kind: attribute-walk
import numpy as np

x = np.pi
x = np.e
x = np.inf
x = np.nan
x = np.sin
x = np.cos
x = np.tan
x = np.exp
x = np.log
x = np
print(x.load("/tmp/x.npy"))
