# profile: solve, tool
# topic: sympy matrices
# expect-stdout-sha256: 3a44a7f5eadd625e02780fb6754d5b6e84487e368f5e7d8400b7120d29dc89bb
from sympy import Matrix

A = Matrix([[4, 1], [2, 3]])
for value, mult in sorted(A.eigenvals().items()):
    print(value, mult)
