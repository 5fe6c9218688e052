# expect: blocked-attribute 9, blocked-path 9
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: kirodotdev/KiroCrew#1624 (attribute forwarded through a helper)
import sympy

def peek(thing):
    return thing.external.gmpy.os

for candidate in (sympy,):
    if peek(candidate).environ.get("SOLVER_TOKEN"):
        print("PWNED")
