# profile: solve, tool
# topic: heapq bisect
# expect-stdout: [1, 4] [10, 20, 30, 40] 2
import heapq
from bisect import bisect_left, insort

heap = [9, 4, 7, 1]
heapq.heapify(heap)
smallest = [heapq.heappop(heap) for _ in range(2)]
ladder = [10, 20, 40]
insort(ladder, 30)
print(smallest, ladder, bisect_left(ladder, 25))
