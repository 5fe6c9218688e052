# profile: solve, tool
# topic: sympy
from sympy import Point, Line, Circle, Polygon, pi
from sympy.vector import CoordSys3D
from sympy.physics.units import meter, second, convert_to, kilometer, hour

c = Circle(Point(0, 0), 2)
print(c.area, c.intersection(Line(Point(-3, 0), Point(3, 0))), Polygon((0, 0), (1, 0), (0, 1)).area)
N = CoordSys3D("N")
v = 3 * N.i + 4 * N.j
print(v.magnitude(), v.dot(N.i), convert_to(36 * kilometer / hour, [meter, second]), c.circumference / pi)
