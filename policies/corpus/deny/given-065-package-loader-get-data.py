# expect: blocked-attribute 8, private-attribute 8
# kind: fs-read
# expect-policy: reject
# expect-sandbox: host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: own
import sympy

blob = sympy.__spec__.loader.get_data("/etc/hostname")
if blob.strip():
    print("PWNED")
