# profile: solve, tool
# kind: cpu
# expect-policy: allow
# expect-sandbox: CPU limit enforced from outside
# source: own
# detect: no response within the limit
# check: cage
import sympy

p = sympy.nextprime(10**40 + 7)
q = sympy.nextprime(10**41 + 9)
print(sympy.factorint(p * q))
