# profile: solve, tool
# topic: collections
# expect-stdout: {'act': ['cat'], 'actt': ['tact'], 'aegln': ['angle'], 'aelpp': ['apple'], 'bbo': ['bob']}
from collections import defaultdict

groups = defaultdict(list)
for word in ["apple", "bob", "cat", "angle", "tact"]:
    groups["".join(sorted(word))].append(word)
print({k: v for k, v in sorted(groups.items()) if len(v) >= 1})
