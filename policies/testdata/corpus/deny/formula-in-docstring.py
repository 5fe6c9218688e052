# expect: dunder-in-text 6
# kind: attribute-walk
import sympy

def f():
    "__import__('os').getcwd()"

print(sympy.sympify(f.__doc__))
