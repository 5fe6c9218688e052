# profile: solve, tool
# topic: numpy signal
# expect-stdout: [3.0, 3.333, 3.0, 1.0, 1.333]
import numpy as np

series = np.array([1, 2, 6, 2, 1, 0, 3], dtype=float)
window = np.ones(3) / 3
smooth = np.convolve(series, window, mode="valid")
print([round(float(s), 3) for s in smooth])
