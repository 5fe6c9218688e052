# expect: blocked-attribute 8, private-attribute 8
# kind: attribute-walk
import random

class Mine:
    _os = 1

print(random._os.environ)
