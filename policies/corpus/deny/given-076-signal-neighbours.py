# expect: blocked-import 7
# kind: process
# expect-policy: reject
# expect-sandbox: own pid namespace: no process outside the request can be signalled
# source: own
# note: the plain check runs inside a pid namespace with one sleeping neighbour
import os

me = os.getpid()
others = []
for name in os.listdir("/proc"):
    if name.isdigit() and int(name) not in (1, me):
        try:
            os.kill(int(name), 0)
            others.append(int(name))
        except OSError:
            pass
if others:
    print("PWNED", len(others))
