# profile: solve, tool
# topic: sympy matrices
# expect-stdout-sha256: 62effdd10188b7b8d26f8efdbc97795ac5ac670a9eacc4c16915bab1c64e846b
import sympy as sp

M = sp.Matrix([[2, 1, 0], [1, 3, 1], [0, 1, 4]])
print("det =", M.det())
inv = M.inv()
print(inv * M == sp.eye(3))
