# expect: blocked-attribute 8, blocked-path 8
# kind: fs-read
# expect-policy: reject
# expect-sandbox: host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: own
import numpy as np

page = np.memmap("/etc/hostname", dtype="u1", mode="r")
if page.size > 0:
    print("PWNED")
