# profile: solve, tool
# kind: cpu
# expect-policy: allow
# expect-sandbox: CPU and wall clock limits enforced from outside; status timed_out
# source: own
# detect: no response within the configured limit plus two seconds, or the next request is slow
# check: cage
n = 0
while True:
    n = (n * 1103515245 + 12345) % 2147483648
