# expect: code-in-text 5
# kind: attribute-walk
import sympy

text = b"open('/etc/hostname').read()".decode()
print(sympy.sympify(text))
