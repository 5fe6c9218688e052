# profile: solve, tool
# topic: numpy
import numpy as np

streams = [np.random.default_rng(s) for s in np.random.SeedSequence(42).spawn(3)]
print(len({float(r.random()) for r in streams}))
grid = np.resize(np.arange(3), (2, 3))
a = np.arange(4)
a.resize((2, 2))
print(grid.tolist(), a.tolist(), type(a).__name__)
