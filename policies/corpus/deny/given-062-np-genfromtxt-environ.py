# expect: blocked-attribute 8, blocked-path 8
# kind: fs-read
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed); /proc of other processes not visible
# source: NorthlandPositronics/Cogtrix#1246
import numpy as np

rows = np.genfromtxt("/proc/self/environ", dtype=str, delimiter="\0", comments=None)
if any(str(cell).startswith("SOLVER_TOKEN=") for cell in np.atleast_1d(rows).ravel()):
    print("PWNED")
