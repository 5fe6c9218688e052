# profile: solve, tool
# kind: cpu
# expect-policy: allow
# expect-sandbox: an outside SIGKILL, because no in-process alarm handler ever runs
# source: own (the loop is in C: Python signal handlers are never reached)
# detect: no response within the limit (an alarm handler inside Python would not fire)
# check: cage
import itertools

largest = max(itertools.repeat(1))
print(largest)
