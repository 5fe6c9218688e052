# expect: blocked-attribute 8
from dataclasses import dataclass
from typing import Protocol, runtime_checkable
import statistics
@dataclass
@runtime_checkable
class G(Protocol):
    sys: object
match statistics:
    case G(o):
        print(o)
