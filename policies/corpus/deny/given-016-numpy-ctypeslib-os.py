# expect: blocked-attribute 9, blocked-path 9
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: langflow-ai/langflow#15198
import numpy as np

a = np.arange(4)
if np.ctypeslib.os.environ.get("SOLVER_TOKEN"):
    print("PWNED", a.sum())
