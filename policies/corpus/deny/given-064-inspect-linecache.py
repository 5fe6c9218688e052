# expect: blocked-attribute 8, blocked-path 8
# kind: fs-read
# expect-policy: reject
# expect-sandbox: host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: own
import dataclasses

line = dataclasses.inspect.linecache.getline("/etc/hostname", 1)
if line.strip():
    print("PWNED")
