# expect: partial-module 5; profile: solve
import sys
def print(*values, file=None):
    return type(file.buffer.raw)('/etc/passwd')
print(1, file=sys.stderr)
