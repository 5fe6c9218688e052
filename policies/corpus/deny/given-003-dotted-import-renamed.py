# expect: blocked-import 6, blocked-attribute 9
# kind: import
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: own
import os.path as geometry

# posixpath keeps a public reference to the os module
if geometry.os.getenv("SOLVER_TOKEN"):
    print("PWNED")
