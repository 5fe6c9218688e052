# profile: solve
# topic: exceptions
# expect-stdout-sha256: 0e13bf8fc030c3d84bbf62cfcd11afd3325a0d3322e80ca8e79d93f7e6d38d37
class NoSolution(Exception):
    """Raised when the equation has no real root."""

    def __init__(self, disc):
        super().__init__(f"discriminant {disc} is negative")
        self.disc = disc

def roots(a, b, c):
    d = b * b - 4 * a * c
    if d < 0:
        raise NoSolution(d)
    s = d ** 0.5
    return (-b - s) / (2 * a), (-b + s) / (2 * a)

print(roots(1, -3, 2))
try:
    roots(1, 0, 1)
except NoSolution as problem:
    print("no real roots:", problem, problem.disc)
