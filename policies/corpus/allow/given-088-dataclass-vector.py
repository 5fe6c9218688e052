# profile: solve
# topic: dataclass
# expect-stdout: 5.0 True
from dataclasses import dataclass, field
import math

@dataclass(frozen=True, order=True)
class Vector:
    x: float
    y: float
    tags: list = field(default_factory=list, compare=False)

    @property
    def length(self) -> float:
        return math.hypot(self.x, self.y)

    def __add__(self, other: "Vector") -> "Vector":
        return Vector(self.x + other.x, self.y + other.y)

total = Vector(3, 4) + Vector(1, -1)
print(total.length, Vector(1, 2) < Vector(1, 3))
