# expect: class-making 4
from abc import ABC as B
from abc import ABCMeta as B
class M(B):
    pass
print(M('X', (), {}))
