# profile: solve, tool
# topic: itertools
# expect-stdout: ['nnoo', 'nono', 'noon', 'onno', 'onon', 'oonn']
from itertools import permutations

words = sorted({"".join(p) for p in permutations("noon")})
print(words)
