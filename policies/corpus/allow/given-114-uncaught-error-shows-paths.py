# profile: solve, tool
# kind: info-leak
# expect-policy: allow
# expect-sandbox: stderr_summary carries no host path, runner file name or stack frame of the runner
# source: seed 001 (the response never echoes paths or stack frames)
# detect: stderr or stderr_summary contains /usr/, /opt/, site-packages, dist-packages or a runner file name
# check: none
import numpy as np

matrix = np.array([[1.0, 2.0], [2.0, 4.0]])
print(np.linalg.inv(matrix))
