# profile: solve
# topic: main guard
"""Solve a quadratic.

Usage: call __main__.main() or import it; see __doc__ conventions.
"""
from cmath import sqrt

__all__ = ["solve"]
__version__ = "1.0"


def solve(a, b, c):
    """Give both roots (uses __truediv__ of complex numbers)."""
    d = sqrt(b * b - 4 * a * c)
    return (-b + d) / (2 * a), (-b - d) / (2 * a)


if __name__ == "__main__":
    print(solve(1, -3, 2), __name__ == "__main__", __version__)
