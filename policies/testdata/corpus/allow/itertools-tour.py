# profile: solve, tool
# topic: itertools
from itertools import chain, combinations, compress, cycle, dropwhile, groupby, islice, product, starmap, takewhile, tee, zip_longest
import operator as op

print(list(chain.from_iterable([[1], [2, 3]])), list(islice(cycle("ab"), 3)), list(starmap(pow, [(2, 3)])))
print({k: len(list(g)) for k, g in groupby(sorted("banana"))}, list(zip_longest([1], [2, 3], fillvalue=0)))
print(sum(1 for _ in product(range(2), repeat=3)), list(compress("abc", [1, 0, 1])), list(takewhile(lambda n: n < 3, range(9))))
a, b = tee([1, 2])
print(list(map(op.add, a, b)), sorted([(2, "b"), (1, "a")], key=op.itemgetter(0)), list(dropwhile(str.isdigit, "1a2")), list(combinations("ab", 2)))
