# expect: dunder-in-text 10, private-attribute 10, blocked-attribute 12
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: CVE-2024-47532; CVE-2026-0863 (n8n python runner)
def seed():
    return 1

try:
    "{0.__globals__[__builtins__].missing_name}".format(seed)
except AttributeError as err:
    found = err.obj

opener = found["open"] if isinstance(found, dict) else found.open
if opener("/etc/hostname").read().strip():
    print("PWNED")
