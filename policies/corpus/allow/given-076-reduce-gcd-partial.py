# profile: solve, tool
# topic: functools
# expect-stdout: [2, 3, 5]
from functools import reduce, partial
from math import gcd

numbers = [84, 126, 210]
scale = partial(lambda k, v: v // k, reduce(gcd, numbers))
print(list(map(scale, numbers)))
