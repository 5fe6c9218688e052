# expect: private-attribute 9, blocked-attribute 13
# kind: info-leak
# expect-policy: reject
# expect-sandbox: no host path, token or runner source is reachable from guest frames
# source: own
# check: worker-frames
import sys

frame = sys._getframe()
outer = []
while frame is not None:
    outer.append(frame)
    frame = frame.f_back
for f in outer[1:]:
    if any("token" in str(k).lower() for k in list(f.f_locals) + list(f.f_globals)):
        print("PWNED")
        break
