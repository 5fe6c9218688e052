# profile: solve, tool
# topic: sympy number theory
# expect-stdout: True True 2
from sympy import gcd, gcdex, Integer

a, b = Integer(240), Integer(46)
s, t, g = gcdex(a, b)
print(g == gcd(a, b), s*a + t*b == g, g)
