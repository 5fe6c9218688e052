# profile: solve, tool
# topic: sympy ode
# expect-stdout: True
from sympy import Function, dsolve, symbols, checkodesol, Eq

x = symbols("x")
f = Function("f")
ode = Eq(f(x).diff(x, 2) + 4*f(x), 0)
sol = dsolve(ode, f(x))
print(checkodesol(ode, sol)[0])
