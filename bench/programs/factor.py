import sympy as sp
print(sp.factor(12))
