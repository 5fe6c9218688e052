# expect: partial-module 5; profile: solve
# kind: protocol
import sys

out = sys.stdout
out.buffer.write(b"raw")
