# profile: solve, tool
# topic: numpy statistics
# expect-stdout: 67.75 75.0 86.75 [1, 2, 3, 2, 2]
import numpy as np

scores = np.array([55, 61, 67, 70, 72, 78, 83, 88, 90, 97])
q1, q2, q3 = np.percentile(scores, [25, 50, 75])
counts, edges = np.histogram(scores, bins=[50, 60, 70, 80, 90, 100])
print(q1, q2, q3, counts.tolist())
