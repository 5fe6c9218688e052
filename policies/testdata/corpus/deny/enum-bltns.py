# expect: blocked-attribute 3, blocked-path 3
# kind: attribute-walk
from enum import bltns

print(bltns)
