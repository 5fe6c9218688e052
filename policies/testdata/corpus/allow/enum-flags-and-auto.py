# profile: solve
# topic: enum
from enum import Enum, IntFlag, auto, unique


@unique
class Shape(Enum):
    CIRCLE = auto()
    SQUARE = auto()

    @property
    def corners(self):
        return {Shape.CIRCLE: 0, Shape.SQUARE: 4}[self]


class Access(IntFlag):
    READ = 1
    WRITE = 2


print([s.name for s in Shape], Shape.SQUARE.corners, Access.READ | Access.WRITE, Shape["CIRCLE"].value)
