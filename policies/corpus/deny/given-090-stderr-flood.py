# expect: partial-module 11; profile: solve
# kind: output
# expect-policy: reject
# expect-sandbox: stderr capped like stdout
# source: own
# check: cage
import sys

BLOCKS = 8192  # check-with: 16
for k in range(BLOCKS):
    sys.stderr.write("!" * 65535 + "\n")
    if k == BLOCKS // 2:
        sys.stderr.write("PWNED\n")
