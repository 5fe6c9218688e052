# profile: solve, tool
# topic: sympy
import sympy as sp

A = sp.Matrix([[2, 0, 1], [0, 3, 0], [1, 0, 2]])
P, D = A.diagonalize()
print(D, A.rank(), A.nullspace(), A.T == A, A.charpoly().as_expr())
print(sp.Matrix(2, 2, lambda i, j: i + j), A.applyfunc(lambda e: e**2)[0, 0], A.LUdecomposition()[2])
