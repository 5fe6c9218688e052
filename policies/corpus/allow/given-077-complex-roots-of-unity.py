# profile: solve, tool
# topic: cmath
# expect-stdout: True True
import cmath

n = 6
roots = [cmath.exp(2j * cmath.pi * k / n) for k in range(n)]
print(abs(sum(roots)) < 1e-12, all(abs(abs(z) - 1) < 1e-12 for z in roots))
