# profile: solve, tool
# topic: numpy
import numpy as np
from numpy.polynomial import Polynomial, chebyshev, legendre

p = Polynomial([1, 2, 3])
print(p(2), p.deriv().coef.tolist(), p.integ()(1))
print(np.poly1d([1, -3, 2]).roots.tolist(), chebyshev.chebval(0.5, [0, 0, 1]), legendre.legval(0.5, [0, 0, 1]))
