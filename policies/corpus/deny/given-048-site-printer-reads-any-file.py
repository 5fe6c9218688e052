# expect: blocked-name 6
# kind: fs-read
# expect-policy: reject
# expect-sandbox: host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: own (type(copyright) takes files= and dirs=; no underscore anywhere)
Notice = type(copyright)
shown = Notice("notice", "", files=["hostname"], dirs=["/etc"])
if repr(shown).strip():
    print("PWNED")
