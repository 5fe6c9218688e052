# profile: solve, tool
# topic: numpy polynomials
# expect-stdout: [1.0, 2.0, 3.0]
import numpy as np
from numpy.polynomial import Polynomial

p = Polynomial([-6, 11, -6, 1])
print(sorted(round(float(r.real), 6) for r in p.roots()))
