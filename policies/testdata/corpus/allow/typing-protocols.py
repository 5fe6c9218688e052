# profile: solve
# topic: typing
from typing import Any, Callable, Dict, Literal, NamedTuple, Protocol, TypedDict, Union, overload


class Shape(Protocol):
    def area(self) -> float: ...


class Square:
    def __init__(self, side: float) -> None:
        self.side = side

    def area(self) -> float:
        return self.side**2


class Row(NamedTuple):
    name: str
    value: "float" = 0.0

    def double(self) -> float:
        return 2 * self.value


class Options(TypedDict, total=False):
    depth: int


def total(shapes: "list[Shape]", key: Callable[[Any], float] | None = None) -> float:
    return sum(s.area() for s in shapes)


kind: Literal["a", "b"] = "a"
opts: Options = {"depth": 2}
print(total([Square(2), Square(3)]), Row("x", 1.5).double(), kind, opts, Union[int, str], Dict[str, int])
