# profile: solve
# topic: modules
import math
import numpy as np
import sympy

math.tau_half = 3
lib = math
print(np.__version__ != "", sympy.__version__ != "", lib.floor(2.5), [f(0.0) for f in (math.sin, np.cos)])
table = {"sin": math.sin, "exp": np.exp}
print(table["sin"](0), max([1, 2], key=math.sqrt))
