# profile: solve, tool
# topic: itertools
# expect-stdout: 792 True
from itertools import combinations
from math import comb

hands = sum(1 for _ in combinations(range(12), 5))
print(hands, hands == comb(12, 5))
