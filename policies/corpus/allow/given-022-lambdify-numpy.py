# profile: solve, tool
# topic: sympy to numpy
# expect-stdout: [0.0, -1.0, 4.0]
import numpy as np
import sympy as sp

x = sp.symbols("x")
f = sp.lambdify(x, x**3 - 2*x, "numpy")
values = f(np.array([0.0, 1.0, 2.0]))
print([float(v) for v in values])
