# expect: blocked-attribute 7
import abc
import statistics
from dataclasses import dataclass
@dataclass
class G(abc.ABC):
    sys: object = None
G.register(type(statistics))
match statistics:
    case G(o):
        print(o)
