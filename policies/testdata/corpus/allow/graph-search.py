# profile: solve, tool
# topic: algorithms
import heapq
from collections import defaultdict, deque


def dijkstra(graph, source):
    dist = {source: 0}
    queue = [(0, source)]
    while queue:
        d, node = heapq.heappop(queue)
        if d > dist.get(node, float("inf")):
            continue
        for nxt, w in graph[node]:
            if (new := d + w) < dist.get(nxt, float("inf")):
                dist[nxt] = new
                heapq.heappush(queue, (new, nxt))
    return dist


graph = defaultdict(list)
for a, b, w in [("A", "B", 4), ("A", "C", 1), ("C", "B", 2), ("B", "D", 5)]:
    graph[a].append((b, w))
print(dijkstra(graph, "A"))
seen, todo = set(), deque(["A"])
while todo:
    node = todo.popleft()
    if node in seen:
        continue
    seen.add(node)
    todo.extend(n for n, _ in graph[node])
print(sorted(seen))
