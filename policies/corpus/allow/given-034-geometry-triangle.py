# profile: solve, tool
# topic: sympy geometry
# expect-stdout: 6 12 True
from sympy import Point, Triangle

t = Triangle(Point(0, 0), Point(4, 0), Point(0, 3))
print(t.area, t.perimeter, t.is_right())
