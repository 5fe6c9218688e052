# expect: code-in-text 5
# kind: attribute-walk
from sympy import Symbol, lambdify

name = "[open('/etc/hostname').read()]"
print(lambdify([], Symbol(name))())
