# profile: solve
# topic: classes
import math


class Vector:
    __slots__ = ("x", "y", "_norm")
    __match_args__ = ("x", "y")
    __hash__ = None

    def __init__(self, x, y):
        self.x, self.y = x, y
        self._norm = None

    def __add__(self, other):
        return type(self)(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return self.__class__(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __eq__(self, other):
        return isinstance(other, Vector) and (self.x, self.y) == (other.x, other.y)

    def __abs__(self):
        if self._norm is None:
            self._norm = math.hypot(self.x, self.y)
        return self._norm

    def __iter__(self):
        yield self.x
        yield self.y

    def __repr__(self):
        return f"{self.__class__.__name__}({self.x!r}, {self.y!r})"


v = 2 * Vector(3, 4) + Vector(0, 0)
match v:
    case Vector(x, y):
        print(v, abs(v), list(v), x, y, v == Vector(6, 8))
