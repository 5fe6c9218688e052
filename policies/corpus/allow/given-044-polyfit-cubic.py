# profile: solve, tool
# topic: numpy polynomials
# expect-stdout: [1.0, 0.0, -1.0, 0.5]
import numpy as np

x = np.linspace(-2, 2, 9)
y = x**3 - x + 0.5
c = np.polyfit(x, y, 3)
print([round(float(v), 4) + 0.0 for v in c])
