# profile: solve
# topic: recursion
import sys
import time
from functools import cache

sys.setrecursionlimit(5000)
start = time.perf_counter()


@cache
def ways(n, k):
    if n == 0:
        return 1
    if n < 0 or k == 0:
        return 0
    return ways(n - k, k) + ways(n, k - 1)


print(ways(100, 100), sys.maxsize > 2**32, sys.version_info >= (3, 8), sys.float_info.epsilon < 1e-10)
elapsed = time.perf_counter() - start
sys.stdout.write("ok\n" if elapsed >= 0 else "")
