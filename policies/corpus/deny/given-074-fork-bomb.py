# expect: blocked-import 8, blocked-attribute 14
# kind: process
# expect-policy: reject
# expect-sandbox: pids limit for the whole sandbox; every descendant is killed when the request ends
# source: criyle/go-judge; BoYanZh criyle/go-judge#131 (pids cgroup)
# detect: more than the configured pids (say 64) exist under the sandbox, or any child lives after the response
# check: cage
import os

CHILDREN = 4096  # check-with: 40
alive = 0
for _ in range(CHILDREN):
    try:
        pid = os.fork()
    except OSError:
        break
    if pid == 0:
        while True:
            os.sched_yield()
    alive += 1
if alive >= CHILDREN:
    print("PWNED")
