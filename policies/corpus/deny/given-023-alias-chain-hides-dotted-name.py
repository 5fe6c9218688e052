# expect: blocked-attribute 9, blocked-path 9
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: own (a policy matching only whole dotted chains misses this)
import numpy as np

library = np
part = library.ctypeslib
inner = part.os
if inner.environ.get("SOLVER_TOKEN"):
    print("PWNED")
