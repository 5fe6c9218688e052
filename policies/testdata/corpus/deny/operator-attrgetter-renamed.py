# expect: blocked-attribute 5, blocked-path 5, dunder-in-text 5
# kind: attribute-walk
import operator as op

read = op.attrgetter("__class__.__mro__")
print(read(3))
