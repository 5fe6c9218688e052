# profile: solve
from dataclasses import dataclass
@dataclass
class S:
    type: str
s = S('a')
print(s.type)
