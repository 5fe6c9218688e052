# profile: solve, tool
# topic: sympy number theory
# expect-stdout: 15 328
from sympy import primerange

primes = list(primerange(2, 50))
print(len(primes), sum(primes))
