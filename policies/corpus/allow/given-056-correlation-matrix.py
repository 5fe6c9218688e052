# profile: solve, tool
# topic: numpy statistics
# expect-stdout: [[1.0, 1.0, -1.0], [1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
import numpy as np

x = np.arange(10.0)
y = 3 * x + 2
z = -x
R = np.corrcoef([x, y, z])
print(np.round(R, 6).tolist())
