# profile: solve, tool
# kind: memory
# expect-policy: allow
# expect-sandbox: memory cap on the whole sandbox
# source: own
# detect: 8 GB become resident
# check: cage
import numpy as np

CELLS = 10**9  # check-with: 10**6
grid = np.ones(CELLS)
grid += 1.0
print("PWNED" if grid[-1] == 2.0 else "")
