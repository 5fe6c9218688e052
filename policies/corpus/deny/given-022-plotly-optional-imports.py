# expect: blocked-attribute 6, blocked-import 6, blocked-path 6
# kind: import
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: own
from plotly.optional_imports import get_module

if get_module("os").environ.get("SOLVER_TOKEN"):
    print("PWNED")
