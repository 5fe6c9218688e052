# expect: blocked-attribute 9, blocked-path 9
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: own
import mpmath

mpmath.mp.dps = 30
where = mpmath.libmp.backend
if where.os.environ.get("SOLVER_TOKEN"):
    print("PWNED", mpmath.sqrt(2))
