# profile: solve, tool
# topic: collections
# expect-stdout-sha256: 1fa759554defbd613b8b688c6e998e55423eda940417e1e3a535a366f2e4b79b
from collections import Counter

text = "mississippi"
counts = Counter(text)
for letter, n in sorted(counts.items(), key=lambda kv: (-kv[1], kv[0])):
    print(f"{letter}: {n}")
