# profile: solve, tool
# topic: numpy linear algebra
# expect-stdout: 1 23.958297
import numpy as np

u = np.array([1.0, 2.0, 3.0])
v = np.array([4.0, 5.0])
A = np.outer(u, v)
singular = np.linalg.svd(A, compute_uv=False)
print(np.linalg.matrix_rank(A), round(float(singular[0]), 6))
