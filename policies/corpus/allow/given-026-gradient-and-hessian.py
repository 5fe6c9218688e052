# profile: solve, tool
# topic: sympy calculus
# expect-stdout-sha256: 8087577565f3a8dc7896b8a6a91321a70e513edbf2dddf7ce8569ab99f40e6ff
import sympy as sp

x, y = sp.symbols("x y")
f = x**3 - 3*x*y + y**3
grad = [sp.diff(f, v) for v in (x, y)]
critical = sp.solve(grad, [x, y], dict=True)
H = sp.hessian(f, (x, y))
for point in critical:
    if all(v.is_real for v in point.values()):
        print(point[x], point[y], H.subs(point).det())
