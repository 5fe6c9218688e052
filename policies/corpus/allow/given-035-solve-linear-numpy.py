# profile: solve, tool
# topic: numpy linear algebra
# expect-stdout: [2.0, 3.0]
import numpy as np

A = np.array([[3.0, 1.0], [1.0, 2.0]])
b = np.array([9.0, 8.0])
x = np.linalg.solve(A, b)
print(np.round(x, 6).tolist())
