# expect: blocked-attribute 5
# kind: fs-write
import numpy as np

np.arange(3).dump("/tmp/x")
