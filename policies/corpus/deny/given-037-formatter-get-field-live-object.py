# expect: blocked-path 6, blocked-attribute 11, dunder-in-text 11
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: CVE-2026-76825 (zopefoundation/RestrictedPython GHSA-hp3v-5vw7-fx9w)
from string import Formatter

def shell():
    return 0

found, _ = Formatter().get_field("f.__globals__[__builtins__]", (), {"f": shell})
opener = found["open"] if isinstance(found, dict) else found.open
if opener("/etc/hostname").read().strip():
    print("PWNED")
