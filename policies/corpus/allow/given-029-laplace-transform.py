# profile: solve, tool
# topic: sympy calculus
# expect-stdout: 0
import sympy as sp

t, s = sp.symbols("t s", positive=True)
F = sp.laplace_transform(t*sp.exp(-2*t), t, s, noconds=True)
print(sp.simplify(F - 1/(s + 2)**2))
