# profile: solve, tool
# topic: sympy ode
# expect-stdout: True
import sympy as sp

t, k = sp.symbols("t k", positive=True)
y = sp.Function("y")
sol = sp.dsolve(sp.Eq(y(t).diff(t), -k*y(t)), y(t), ics={y(0): 10})
print(sp.simplify(sol.rhs - 10*sp.exp(-k*t)) == 0)
