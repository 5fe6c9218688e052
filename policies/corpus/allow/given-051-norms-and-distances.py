# profile: solve, tool
# topic: numpy linear algebra
# expect-stdout: 3.0 5.0 20
import numpy as np

a = np.array([1, 2, 2])
b = np.array([4, 6, 2])
print(np.linalg.norm(a), float(np.linalg.norm(a - b)), int(np.dot(a, b)))
