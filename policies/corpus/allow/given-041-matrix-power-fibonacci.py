# profile: solve, tool
# topic: numpy linear algebra
# expect-stdout: 2880067194370816120
import numpy as np

F = np.array([[1, 1], [1, 0]], dtype=object)
result = np.linalg.matrix_power(F, 90)
print(result[0][1])
