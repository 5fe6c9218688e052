# expect: module-store 5
# kind: state-leak
import json

for json.dumps in (str,):
    print(json.dumps(1))
