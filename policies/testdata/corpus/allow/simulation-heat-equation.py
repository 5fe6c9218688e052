# profile: solve, tool
# topic: numpy
import numpy as np

u = np.zeros(21)
u[10] = 1.0
for step in range(50):
    u[1:-1] += 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
print(round(float(u.sum()), 6), int(np.argmax(u)))
