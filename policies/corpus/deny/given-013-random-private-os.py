# expect: blocked-attribute 9, private-attribute 9
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: own
import random

random.seed(7)
if random._os.environ.get("SOLVER_TOKEN"):
    print("PWNED")
