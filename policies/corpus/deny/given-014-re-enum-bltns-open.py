# expect: blocked-attribute 9, blocked-path 9
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: own (CPython 3.11: re.enum.bltns is the builtins module)
import re

words = re.findall(r"\d+", "12 monkeys")
opened = re.enum.bltns.open("/etc/hostname").read()
if opened.strip():
    print("PWNED", words)
