# expect: blocked-attribute 8
import abc
import random
from dataclasses import dataclass
@dataclass
class G(abc.ABC):
    _os: object = None
G.register(type(random))
match random:
    case G(o):
        print(o)
