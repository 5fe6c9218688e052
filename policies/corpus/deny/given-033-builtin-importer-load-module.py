# expect: private-attribute 8, blocked-attribute 9
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: VectorlyApp/bluebox#126
import itertools

importer = itertools.__loader__
posix = importer.load_module("posix")
if posix.environ.get(b"SOLVER_TOKEN"):
    print("PWNED")
