# expect: blocked-attribute 8, blocked-path 8
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: own
import sympy

load = sympy.external.import_module
if load("os").environ.get("SOLVER_TOKEN"):
    print("PWNED")
