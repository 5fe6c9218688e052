# expect: class-making 3
from abc import ABCMeta
m = [ABCMeta][0]
print(m('X', (), {}))
