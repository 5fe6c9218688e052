import numpy as np, sympy as sp, mpmath, statistics, fractions
a = np.random.default_rng(1).normal(size=(300, 300)); np.linalg.svd(a); np.linalg.eig(a); a @ a; np.linalg.inv(a); np.linalg.lstsq(a, a[0], rcond=None)
np.fft.fft2(a); np.sort(a); np.einsum("ij,jk->k", a, a); np.unique(a.round()); np.histogram(a); np.savez; np.polyfit(range(9), range(9), 3)
np.show_config if False else None
import io; b = io.BytesIO(); np.save(b, a); b.seek(0); np.load(b)
x, y = sp.symbols("x y"); sp.integrate(sp.sin(x) ** 2 * sp.exp(x), x); sp.solve(x**3 - 2 * x + 1, x); sp.dsolve(sp.Function("f")(x).diff(x) - x)
sp.lambdify([x, y], sp.sin(x) * y)(1, 2); sp.factorint(2**61 - 2); sp.groebner([x**2 + y, x - y], x, y); sp.latex(sp.Integral(x)); sp.plotting
sp.stats.E(sp.stats.Normal("n", 0, 1)); mpmath.mp.dps = 50; mpmath.zeta(3); mpmath.quad(mpmath.cos, [0, 1]); sp.nsimplify(0.1); sp.Matrix(6, 6, range(36)).rref(); sp.sympify("x+1")
statistics.linear_regression([1, 2, 3], [1, 2, 4]); fractions.Fraction(1, 3); np.testing.assert_allclose(1, 1); np.memmap
