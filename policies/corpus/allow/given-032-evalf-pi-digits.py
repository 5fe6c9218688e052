# profile: solve, tool
# topic: sympy numerics
# expect-stdout: 3.14159265358979323846264338328
import sympy as sp
print(sp.pi.evalf(30))
