# expect: blocked-attribute 7, blocked-import 7, blocked-path 12
# kind: fs-write
# expect-policy: reject
# expect-sandbox: no writable path outside the per-request scratch directory
# source: own
import sympy as sp
from sympy.utilities.codegen import codegen
import numpy as np

x = sp.symbols("x")
codegen(("area", x**2), "C99", "/var/tmp/pwned-code", to_files=True)
if np.fromfile("/var/tmp/pwned-code.c", dtype="u1").size > 10:
    print("PWNED")
