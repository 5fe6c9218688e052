# expect: blocked-attribute 6, blocked-import 6
# kind: import
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: own
from os import environ as constants

def physical_constant(name):
    return constants.get(name, "")

if len(physical_constant("SOLVER_TOKEN")) > 0:
    print("PWNED")
