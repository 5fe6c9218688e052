# expect: blocked-import 6, blocked-attribute 8
# kind: import
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: own
import os

if os.environ.get("SOLVER_TOKEN"):
    print("PWNED")
