# expect: blocked-attribute 7
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: CVE-2023-37271 (zopefoundation/RestrictedPython GHSA-wqc8-x2pr-7jqh)
squares = (n * n for n in range(3))
names = squares.gi_frame.f_builtins
text = names["open"]("/etc/hostname").read()
if text.strip():
    print("PWNED", sum(squares))
