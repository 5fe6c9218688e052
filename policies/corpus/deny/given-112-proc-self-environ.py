# expect: blocked-name 6
# kind: info-leak
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: Certora/AutoProver#73
raw = open("/proc/self/environ", "rb").read()
if b"SOLVER_TOKEN=" in raw:
    print("PWNED")
