# profile: solve, tool
# topic: numpy random
# expect-stdout: (1000,) True
import numpy as np

np.random.seed(42)
steps = np.random.choice([-1, 1], size=1000)
position = np.cumsum(steps)
print(position.shape, bool(abs(position[-1]) <= 1000))
