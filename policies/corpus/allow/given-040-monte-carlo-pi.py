# profile: solve, tool
# topic: numpy random
# expect-stdout: True
import numpy as np

rng = np.random.default_rng(12345)
points = rng.random((200_000, 2))
inside = (points**2).sum(axis=1) <= 1.0
estimate = 4 * inside.mean()
print(abs(estimate - np.pi) < 0.02)
