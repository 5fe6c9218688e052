# expect: blocked-import 6
# kind: fs-read
# expect-policy: reject
# expect-sandbox: the host account database is not visible inside the sandbox
# source: own
from pathlib import Path

if "daemon:" in Path("/etc/passwd").read_text():
    print("PWNED")
