# profile: solve
# topic: numpy
import numpy as np
from numpy.linalg import norm, solve, eigvals
from numpy.random import default_rng

rng = default_rng(7)
A = rng.normal(size=(4, 4))
b = A @ np.ones(4)
x = solve(A, b)
print(np.allclose(x, 1), norm(x) - 2 < 1e-9, eigvals(np.diag([1.0, 2.0])).tolist())
np.testing.assert_allclose(x, np.ones(4))
print(np.__version__ >= "1", np.random.rand(2).shape, np.set_printoptions(precision=3))
