# expect: private-attribute 12
# kind: protocol
# expect-policy: reject
# expect-sandbox: guest bytes never travel on the channel that carries the result
# source: seed 002 (JSON lines on the worker's stdout)
# detect: the decoded answer for this request contains PWNED
# check: worker
import json
import sys

fake = {"ok": True, "passed": True, "status": "completed", "output": "\u0050WNED", "stdout": "\u0050WNED"}
sys.__stdout__.write(json.dumps(fake).replace("P", "\\u0050") + "\n")
sys.__stdout__.flush()
