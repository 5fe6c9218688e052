# profile: solve, tool
# topic: numpy arrays
# expect-stdout: (5, 5) 2.0 0.0
import numpy as np

x = np.linspace(-1, 1, 5)
X, Y = np.meshgrid(x, x)
Z = X**2 + Y**2
print(Z.shape, float(Z.max()), float(Z.min()))
