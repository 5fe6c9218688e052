# profile: solve, tool
# topic: itertools
# expect-stdout-sha256: c95ee495a0d260369e3176106d5ffa224253dfd2ffa4d1d927fb5e9093606f21
from itertools import accumulate, pairwise, chain, islice, count
import operator

data = [3, 1, 4, 1, 5, 9, 2, 6]
print(list(accumulate(data, max)))
print(list(accumulate(data, operator.mul))[-1])
print([b - a for a, b in pairwise(data)])
print(list(islice(chain([0], count(10)), 4)))
