# profile: solve, tool
# topic: json
# expect-stdout: {"n": 3, "note": null, "ok": true, "values": [1.5, 2.5]}
import json

record = {"n": 3, "values": [1.5, 2.5], "ok": True, "note": None}
text = json.dumps(record, sort_keys=True)
print(text)
assert json.loads(text) == record
