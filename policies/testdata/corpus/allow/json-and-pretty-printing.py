# profile: solve
# topic: json
import json
from pprint import pformat, pprint

data = {"b": [1, 2.5, None], "a": {"nested": True}}
text = json.dumps(data, indent=2, sort_keys=True, default=str)
print(text, json.loads(text) == data)
pprint(data, width=30)
print(pformat([1, 2]), json.dumps({"x": float("inf")}))
