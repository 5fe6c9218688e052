# expect: blocked-import 9, private-attribute 20
# kind: protocol
# expect-policy: reject
# expect-sandbox: guest has no inherited descriptor but 0, 1, 2; result frame is made by the parent from what it observes
# source: KeeperHub/keeperhub#1521
# detect: the decoded answer contains PWNED, or status is completed for a program that never finished normally
# check: worker
import json
import os
import struct

body = {"passed": True, "status": "completed", "timed_out": False, "stdout": "X", "ok": True, "output": "X"}
text = json.dumps(body).replace('"X"', '"\\u0050WNED\\n"').encode()
for fd in range(1, 256):
    for frame in (text + b"\n", struct.pack(">I", len(text)) + text, struct.pack("<I", len(text)) + text):
        try:
            os.write(fd, frame)
        except OSError:
            break
os._exit(0)
