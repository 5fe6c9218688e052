import math
import numpy as np
import sympy as sp
from collections import Counter, defaultdict
from sympy import symbols, solve, factor, integrate


def primes(limit):
    sieve = [True] * (limit + 1)
    sieve[0:2] = [False, False]
    for p in range(2, int(math.isqrt(limit)) + 1):
        if sieve[p]:
            for multiple in range(p * p, limit + 1, p):
                sieve[multiple] = False
    return [n for n, prime in enumerate(sieve) if prime]


def summary(values):
    array = np.array(values, dtype=float)
    mean = array.mean()
    spread = array.std(ddof=1)
    return {"mean": round(mean, 4), "std": round(spread, 4), "n": len(values)}


x, y = symbols("x y")
expression = x**4 - 5 * x**2 + 4
print(factor(expression))
print(solve(expression, x))

area = integrate(sp.sin(x) ** 2, (x, 0, sp.pi))
print(sp.simplify(area), area.evalf(10))

groups = defaultdict(list)
for prime in primes(200):
    groups[prime % 10].append(prime)
for digit in sorted(groups):
    print(digit, len(groups[digit]), summary(groups[digit]))

matrix = np.array([[2.0, 1.0], [1.0, 3.0]])
values, vectors = np.linalg.eigh(matrix)
for value, vector in zip(values, vectors.T):
    print(f"{value:.6f}", np.round(vector, 6).tolist())

letters = Counter("the quick brown fox jumps over the lazy dog")
print(letters.most_common(3))

system = [sp.Eq(x + y, 5), sp.Eq(x - y, 1)]
answer = sp.solve(system, [x, y], dict=True)
total = sum(term for term in answer[0].values())
print(answer, total)
