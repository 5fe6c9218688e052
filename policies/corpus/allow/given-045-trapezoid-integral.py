# profile: solve, tool
# topic: numpy calculus
# expect-stdout: 2.00000
import numpy as np

x = np.linspace(0, np.pi, 1001)
y = np.sin(x)
area = float(((y[1:] + y[:-1]) / 2 * np.diff(x)).sum())
print(f"{area:.5f}")
