# profile: solve, tool
# topic: numpy linear algebra
# expect-stdout: 12 [[15, 18, 21], [42, 54, 66], [69, 90, 111]]
import numpy as np

A = np.arange(9).reshape(3, 3)
print(int(np.einsum("ii", A)), np.einsum("ij,jk->ik", A, A).tolist())
