# expect: blocked-import 8, blocked-attribute 14, private-attribute 19
# kind: memory
# expect-policy: reject
# expect-sandbox: one memory cap over all processes of the request together
# source: engineer-man/piston#683 (per-process limits do not add up)
# detect: all children complete although their sum is 6.4 GB
# check: cage
import os

EACH = 400 * 2**20  # check-with: 2**20
N = 16
kids = []
for _ in range(N):
    pid = os.fork()
    if pid == 0:
        block = bytearray(EACH)
        for i in range(0, EACH, 4096):
            block[i] = 1
        os._exit(0 if block[0] else 1)
    kids.append(pid)
codes = [os.waitpid(k, 0)[1] for k in kids]
if not any(codes):
    print("PWNED")
