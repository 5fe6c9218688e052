"""Some two hundred lines of the kind that models write for a worksheet."""
import itertools
import math
import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import sympy as sp


@dataclass
class Series:
    """A named list of measurements."""
    name: str
    values: list = field(default_factory=list)

    def add(self, value):
        self.values.append(value)
        return self

    @property
    def mean(self):
        return statistics.fmean(self.values)

    @property
    def spread(self):
        return statistics.pstdev(self.values)

    def summary(self):
        return f"{self.name}: n={len(self.values)} mean={self.mean:.4f} sd={self.spread:.4f}"


def primes(limit):
    """The sieve of Eratosthenes."""
    marks = [True] * (limit + 1)
    marks[0] = marks[1] = False
    for n in range(2, math.isqrt(limit) + 1):
        if marks[n]:
            for multiple in range(n * n, limit + 1, n):
                marks[multiple] = False
    return [n for n, prime in enumerate(marks) if prime]


def collatz(n):
    steps = 0
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps


def continued_fraction(x, terms):
    parts = []
    for term in range(terms):
        whole = x.numerator // x.denominator
        parts.append(whole)
        rest = x - whole
        if rest == 0:
            break
        x = 1 / rest
    return parts


def newton(f, df, x, rounds=20):
    for turn in range(rounds):
        step = f(x) / df(x)
        x -= step
        if abs(step) < 1e-14:
            break
    return x


def trapezoid(f, a, b, n):
    h = (b - a) / n
    total = (f(a) + f(b)) / 2
    for k in range(1, n):
        total += f(a + k * h)
    return total * h


def partitions(n, largest=None):
    largest = largest or n
    if n == 0:
        yield ()
        return
    for first in range(min(n, largest), 0, -1):
        for rest in partitions(n - first, first):
            yield (first, *rest)


def gcd_table(size):
    return [[math.gcd(a, b) for b in range(1, size + 1)] for a in range(1, size + 1)]


class Polynomial:
    """Coefficients from the constant upwards."""

    def __init__(self, *coefficients):
        self.coefficients = list(coefficients)

    def value(self, x):
        result = 0
        for c in reversed(self.coefficients):
            result = result * x + c
        return result

    def derivative(self):
        return Polynomial(*[k * c for k, c in enumerate(self.coefficients)][1:])

    def times(self, other):
        product = [0] * (len(self.coefficients) + len(other.coefficients) - 1)
        for (i, a), (j, b) in itertools.product(enumerate(self.coefficients), enumerate(other.coefficients)):
            product[i + j] += a * b
        return Polynomial(*product)

    def text(self):
        terms = []
        for power, c in enumerate(self.coefficients):
            if c == 0:
                continue
            terms.append(str(c) if power == 0 else f"{c}x" if power == 1 else f"{c}x^{power}")
        return " + ".join(terms) or "0"


# 1. Numbers
found = primes(200)
print("primes below 200:", len(found), "largest:", found[-1])
twins = [(p, q) for p, q in zip(found, found[1:]) if q - p == 2]
print("twins:", twins[:4], "...", len(twins))
longest = max(range(1, 200), key=collatz)
print("longest Collatz below 200:", longest, collatz(longest))
print("pi as a continued fraction:", continued_fraction(Fraction(355, 113), 6))
print("partitions of 8:", len(list(partitions(8))))
table = gcd_table(6)
print("coprime pairs:", sum(row.count(1) for row in table))

# 2. Words
text = "the quick brown fox jumps over the lazy dog and the dog sleeps"
counts = Counter(text.split())
by_length = defaultdict(list)
for word in counts:
    by_length[len(word)].append(word)
print("most common:", counts.most_common(2))
for length in sorted(by_length):
    print(length, sorted(by_length[length]))

# 3. Measurements
series = Series("height")
for k in range(12):
    series.add(1.6 + 0.02 * ((k * 7) % 11))
print(series.summary())
scores = {"ann": [12, 15, 11], "bob": [9, 14, 13], "cy": [15, 15, 16]}
ranking = sorted(scores, key=lambda name: -sum(scores[name]))
for place, name in enumerate(ranking, start=1):
    print(f"{place}. {name:<4}{sum(scores[name]) / len(scores[name]):6.2f}")

# 4. Polynomials
p = Polynomial(-6, 11, -6, 1)
print("p(x) =", p.text())
print("p'(x) =", p.derivative().text())
print("roots among 0..5:", [x for x in range(6) if p.value(x) == 0])
print("p(x)^2 at 4:", p.times(p).value(4))

# 5. Numerical work
root = newton(lambda x: x**3 - 2, lambda x: 3 * x**2, 1.0)
print("cube root of 2:", round(root, 10))
area = trapezoid(math.sin, 0, math.pi, 200)
print("area under a sine:", round(area, 4))
grid = np.linspace(0, 1, 11)
print("sum of squares:", round(float((grid**2).sum()), 4))
matrix = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
print("solution:", np.round(np.linalg.solve(matrix, np.array([1.0, 2.0, 3.0])), 6).tolist())
print("determinant:", round(float(np.linalg.det(matrix)), 6))

# 6. Symbols
x, y = sp.symbols("x y")
print("expanded:", sp.expand((x + y)**3))
print("factored:", sp.factor(x**3 - 6 * x**2 + 11 * x - 6))
print("derivative:", sp.diff(x**3 * sp.sin(x), x))
print("system:", sp.solve([x + y - 5, x - y - 1], [x, y]))
m = sp.Matrix([[2, 1], [1, 2]])
print("eigenvalues:", m.eigenvals())

# 7. Conditions and errors
try:
    print(1 / (found[0] - 2))
except ZeroDivisionError as fault:
    print("caught:", fault)
labels = []
for n in range(1, 16):
    match (n % 3, n % 5):
        case (0, 0):
            labels.append("both")
        case (0, _):
            labels.append("three")
        case (_, 0):
            labels.append("five")
        case _:
            labels.append(str(n))
print(" ".join(labels))
print("done")
