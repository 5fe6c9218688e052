# expect: blocked-name 6
# kind: fs-read
# expect-policy: reject
# expect-sandbox: host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: own
with open("/etc/hostname", encoding="ascii") as handle:
    first = handle.readline()
if first.strip():
    print("PWNED")
