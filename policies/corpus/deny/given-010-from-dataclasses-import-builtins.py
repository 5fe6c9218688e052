# expect: blocked-attribute 7, blocked-path 7
# kind: import
# expect-policy: reject
# expect-sandbox: the host account database is not visible inside the sandbox
# source: own
# note: CPython 3.11 and older
from dataclasses import builtins as toolbox, dataclass

@dataclass
class Point:
    x: int = 0

text = toolbox.open("/etc/passwd").read()
if "daemon:" in text:
    print("PWNED", Point().x)
