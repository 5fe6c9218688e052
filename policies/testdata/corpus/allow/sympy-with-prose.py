# profile: solve, tool
# topic: sympy
import sympy as sp
from sympy import pprint

x = sp.symbols("x")
sp.pprint("The roots are real. They are 'nice'.")
pprint("Done. See x.y")
print(sp.latex(x**2, mode="inline"), sp.pretty("a.b"), sp.Symbol("x_{max}"), sp.symbols("a, b c"))
