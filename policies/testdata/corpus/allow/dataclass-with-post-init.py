# profile: solve
# topic: dataclasses
from dataclasses import dataclass, field, asdict, replace
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float
    tags: tuple[str, ...] = field(default=(), repr=False)
    count: ClassVar[int] = 0

    def __post_init__(self):
        if self.low > self.high:
            raise ValueError("low > high")

    def __contains__(self, x):
        return self.low <= x <= self.high

    def __and__(self, other):
        return Interval(max(self.low, other.low), min(self.high, other.high))


a = Interval(0, 5) & Interval(2, 9)
print(a, 3 in a, asdict(a), replace(a, low=1))
