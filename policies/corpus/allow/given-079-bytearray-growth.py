# profile: solve, tool
# kind: memory
# expect-policy: allow
# expect-sandbox: memory cap on the whole sandbox (cgroup), not only RLIMIT_AS per process
# source: own
# detect: resident memory of the sandbox passes the configured cap, or the gateway process grows
# check: cage
LIMIT = 6 * 2**30  # check-with: 2**26
chunks = []
held = 0
while held < LIMIT:
    chunks.append(bytearray(b"\x01") * (16 * 2**20))
    held += 16 * 2**20
print("PWNED")
