# expect: private-attribute 6
# kind: attribute-walk
from collections import namedtuple

Point = namedtuple("Point", "x y")
print(Point._make([1, 2])._asdict(), Point.__new__.__globals__)
