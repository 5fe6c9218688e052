# profile: solve, tool
# topic: sympy calculus
# expect-stdout: f'(0) = 0
import sympy as sp

t = sp.Symbol("t", real=True)
f = sp.sin(t**2) * sp.exp(-t)
df = sp.diff(f, t)
value = df.subs(t, 0)
print("f'(0) =", value)
