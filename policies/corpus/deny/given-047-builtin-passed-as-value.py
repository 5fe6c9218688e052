# expect: blocked-name 6
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: own (tests only Call(Name) checks)
reader = [open][0]
texts = list(map(reader, ["/etc/hostname"]))
if texts[0].read().strip():
    print("PWNED")
