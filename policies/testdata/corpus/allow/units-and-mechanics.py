# profile: solve, tool
# topic: sympy
from sympy import symbols, cos, sin, simplify
from sympy.physics.mechanics import ReferenceFrame, Point, dynamicsymbols
from sympy.physics import units

t = symbols("t")
q = dynamicsymbols("q")
N = ReferenceFrame("N")
A = N.orientnew("A", "Axis", [q, N.z])
O, P = Point("O"), Point("P")
O.set_vel(N, 0)
P.set_pos(O, A.x)
print(P.vel(N), units.convert_to(5 * units.km, units.m), simplify(sin(q)**2 + cos(q)**2))
