# profile: solve, tool
# topic: string formatting
# expect-stdout-sha256: 77eaab6b961ec479b787c94529c184c533e1fae5c3a5a707d70c64245541e1c8
template = "{name} scored {score:.1f} points"
results = [{"name": "Ada", "score": 91.25}, {"name": "Alan", "score": 88}]
for entry in results:
    print(template.format(**entry))
