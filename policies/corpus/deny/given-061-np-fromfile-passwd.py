# expect: blocked-attribute 8, blocked-path 8
# kind: fs-read
# expect-policy: reject
# expect-sandbox: the host account database is not visible inside the sandbox
# source: NorthlandPositronics/Cogtrix#1246 (file I/O below the AST layer)
import numpy as np

data = np.fromfile("/etc/passwd", dtype=np.uint8)
text = bytes(data).decode()
if "daemon:" in text:
    print("PWNED")
