# profile: solve, tool
# topic: functools
# expect-stdout: [1, 2, 3, 5, 7, 11, 15, 22, 30, 42]
from functools import lru_cache

@lru_cache(maxsize=None)
def partitions(n, largest):
    if n == 0:
        return 1
    return sum(partitions(n - k, k) for k in range(1, min(n, largest) + 1))

print([partitions(n, n) for n in range(1, 11)])
