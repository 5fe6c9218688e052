# expect: blocked-import 8, blocked-attribute 12
# kind: state-leak
# expect-policy: reject
# expect-sandbox: see the first half
# source: multikernel/sandlock#252
# after: 103-survivor-daemon-a.py
# check: pair-second
import socket
import time

time.sleep(0.3)
line = socket.socket(socket.AF_UNIX)
line.settimeout(1)
try:
    line.connect("\0pwned-survivor")
    if line.recv(5) == b"alive":
        print("PWNED")
except OSError:
    pass
