# profile: solve, tool
# topic: numpy arrays
# expect-stdout: 25 97
import numpy as np

limit = 100
sieve = np.ones(limit + 1, dtype=bool)
sieve[:2] = False
for p in range(2, int(limit**0.5) + 1):
    if sieve[p]:
        sieve[p*p::p] = False
primes = np.flatnonzero(sieve)
print(len(primes), int(primes[-1]))
