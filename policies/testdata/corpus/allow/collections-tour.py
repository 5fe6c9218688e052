# profile: solve
# topic: collections
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Iterable, Mapping, Sequence

Point = namedtuple("Point", "x y", defaults=[0])
p = Point(1)
print(p, p._replace(y=2), p._asdict(), Point._fields, Point._make([3, 4]))
print(Counter("hello").most_common(1), ChainMap({"a": 1}, {"b": 2})["b"], isinstance({}, Mapping), isinstance("", Iterable))
d = OrderedDict(a=1)
d.move_to_end("a")
q = deque([1, 2], maxlen=2)
q.appendleft(0)
tree = lambda: defaultdict(tree)
t = tree()
t["x"]["y"] = 1
print(d, q, t["x"]["y"], issubclass(list, Sequence))
