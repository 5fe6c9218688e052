# profile: solve, tool
# topic: numpy linear algebra
# expect-stdout: True [1.0, 3.0]
import numpy as np

S = np.array([[2.0, -1.0], [-1.0, 2.0]])
values, vectors = np.linalg.eigh(S)
rebuilt = vectors @ np.diag(values) @ vectors.T
print(np.allclose(S, rebuilt), [round(float(v), 6) for v in values])
