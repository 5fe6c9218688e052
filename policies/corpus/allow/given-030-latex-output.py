# profile: solve, tool
# topic: sympy printing
# expect-stdout: \int\limits_{0}^{1} \sqrt{x}\, dx
import sympy as sp

x = sp.symbols("x")
print(sp.latex(sp.Integral(sp.sqrt(x), (x, 0, 1))))
