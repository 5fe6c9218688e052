# expect: partial-module 3; profile: solve
import sys
print(1, file=sys.stderr.buffer)
