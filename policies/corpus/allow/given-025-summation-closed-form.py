# profile: solve, tool
# topic: sympy calculus
# expect-stdout: 385
from sympy import symbols, summation, factor

k, n = symbols("k n", integer=True, positive=True)
total = factor(summation(k**2, (k, 1, n)))
print(total.subs(n, 10))
