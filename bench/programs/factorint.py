import sympy as sp
print(sp.factorint(2**67 - 1))
