# profile: solve, tool
# topic: sympy
from sympy import isprime, primefactors, divisors, totient, gcd, lcm, nextprime, factorint, mobius
from sympy.ntheory import is_primitive_root, discrete_log, n_order
from sympy.utilities.iterables import multiset_permutations, partitions

print(isprime(97), primefactors(360), divisors(28), totient(36), nextprime(100), mobius(30))
print(n_order(3, 7), is_primitive_root(3, 7), discrete_log(7, 2, 3), gcd(12, 18), lcm(4, 6))
print(["".join(p) for p in multiset_permutations("aab")], [dict(p) for p in partitions(4)], factorint(360))
