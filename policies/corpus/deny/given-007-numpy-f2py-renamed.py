# expect: blocked-attribute 6, blocked-import 6, blocked-path 6
# kind: import
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: numpy/numpy#23859
import numpy.f2py as interpolation

if interpolation.os.environ.get("SOLVER_TOKEN"):
    print("PWNED")
