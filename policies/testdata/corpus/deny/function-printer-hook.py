# expect: blocked-import 4
# kind: attribute-walk
import sympy
from sympy.printing.pycode import PythonCodePrinter

print(PythonCodePrinter().doprint(sympy.Symbol("x")))
