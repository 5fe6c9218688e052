# profile: solve, tool
# topic: mpmath
# expect-stdout: 0.739085133215 9.0
import mpmath

mpmath.mp.dps = 20
root = mpmath.findroot(lambda x: mpmath.cos(x) - x, 0.7)
area = mpmath.quad(lambda x: x**2, [0, 3])
print(mpmath.nstr(root, 12), mpmath.nstr(area, 8))
