# expect: blocked-attribute 6, blocked-path 6
# kind: import
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: own (public name leak of an allowlisted module)
from statistics import mean, sys

table = sys.modules
if table["os"].environ.get("SOLVER_TOKEN"):
    print("PWNED", mean([1, 2, 3]))
