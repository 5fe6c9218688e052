# expect: blocked-import 8, blocked-attribute 11, private-attribute 24
# kind: state-leak
# expect-policy: reject
# expect-sandbox: everything the request started is killed before the response is sent (pid namespace or cgroup kill, not process group)
# source: multikernel/sandlock#252; langfuse/langfuse#15955
# detect: a process of this request exists after the response
# check: pair-first
import os
import socket

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in (0, 1, 2):
            os.close(fd)
        box = socket.socket(socket.AF_UNIX)
        box.bind("\0pwned-survivor")
        box.listen(1)
        box.settimeout(60)
        try:
            peer, _ = box.accept()
            peer.sendall(b"alive")
        finally:
            os._exit(0)
    os._exit(0)
