# expect: blocked-attribute 6, blocked-import 6
# kind: import
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: own
from mpmath.libmp.backend import *

if os.environ.get("SOLVER_TOKEN"):
    print("PWNED")
