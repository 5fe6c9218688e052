import sympy as sp
x = sp.symbols('x')
print(sp.solve(x**2 - 5*x + 6, x))
print(sp.diff(sp.sin(x) * x, x))
print(sp.integrate(x * sp.exp(x), x))
