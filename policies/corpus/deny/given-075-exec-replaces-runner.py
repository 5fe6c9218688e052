# expect: blocked-import 6, blocked-attribute 8
# kind: process
# expect-policy: reject
# expect-sandbox: execve of anything but the interpreter is refused or sees no secrets
# source: own
import os

os.execv("/bin/sh", ["sh", "-c", 'test -n "$SOLVER_TOKEN" && echo PWN""ED'])
