# expect: blocked-attribute 5, blocked-path 5
# kind: attribute-walk
import numpy

print(next(m for m in [numpy]).savez("/tmp/x", a=1))
