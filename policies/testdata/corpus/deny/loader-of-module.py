# expect: blocked-dunder 5, private-attribute 5
# kind: attribute-walk
import math

print(math.__loader__, __loader__)
