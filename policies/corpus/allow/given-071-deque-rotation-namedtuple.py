# profile: solve
# topic: collections
# expect-stdout: 2 {'x': 1, 'y': 1}
from collections import deque, namedtuple

Point = namedtuple("Point", ["x", "y"])
ring = deque([Point(0, 0), Point(1, 0), Point(1, 1)])
ring.rotate(1)
first = ring.popleft()
print(first.x + first.y, first._asdict())
