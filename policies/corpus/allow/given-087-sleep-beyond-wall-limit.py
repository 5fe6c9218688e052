# profile: solve
# kind: cpu
# expect-policy: allow
# expect-sandbox: wall clock limit, since sleeping uses no CPU time
# source: own
# check: cage
# note: a policy may reject time.sleep
import time

SECONDS = 150  # check-with: 1
time.sleep(SECONDS)
print("PWNED")
