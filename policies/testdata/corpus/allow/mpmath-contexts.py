# profile: solve, tool
# topic: mpmath
import mpmath
from mpmath import mp, mpf, iv, quad, findroot, zeta, workdps

mp.dps = 25
mp.pretty = True
with workdps(50):
    root = findroot(lambda x: x**3 - 2, 1.2)
print(mpmath.nstr(root, 20), zeta(2) - mp.pi**2 / 6 < mpf("1e-20"), quad(mpmath.sin, [0, mp.pi]))
iv.dps = 15
print(mpmath.matrix([[1, 2], [3, 4]]) ** -1, mpmath.polyroots([1, -3, 2]), mpmath.diff(lambda t: t**2, 3))
