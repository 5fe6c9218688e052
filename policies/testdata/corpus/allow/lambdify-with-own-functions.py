# profile: solve, tool
# topic: sympy
import numpy as np
import sympy as sp
from sympy.utilities.lambdify import lambdify

x, y = sp.symbols("x y")
f = lambdify((x, y), sp.sqrt(x**2 + y**2), modules=["numpy", {"sqrt": np.sqrt}])
print(np.round(f(np.array([3.0, 5.0]), np.array([4.0, 12.0])), 3).tolist())
