# expect: blocked-name 5, dunder-in-text 5
# kind: attribute-walk
from functools import reduce

print(reduce(getattr, ["__class__", "__mro__"], 3))
