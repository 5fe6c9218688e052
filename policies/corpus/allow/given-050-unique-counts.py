# profile: solve, tool
# topic: numpy arrays
# expect-stdout: {1: 1, 2: 1, 3: 2, 6: 3}
import numpy as np

rolls = np.array([3, 1, 3, 6, 6, 6, 2])
faces, counts = np.unique(rolls, return_counts=True)
print(dict(zip(faces.tolist(), counts.tolist())))
