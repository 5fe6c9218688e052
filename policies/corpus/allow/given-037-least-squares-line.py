# profile: solve, tool
# topic: numpy linear algebra
# expect-stdout: slope=2.000 intercept=1.000
import numpy as np

x = np.array([0, 1, 2, 3, 4], dtype=float)
y = np.array([1, 3, 5, 7, 9], dtype=float)
design = np.column_stack([x, np.ones_like(x)])
coef, *_ = np.linalg.lstsq(design, y, rcond=None)
print(f"slope={coef[0]:.3f} intercept={coef[1]:.3f}")
