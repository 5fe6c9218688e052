# expect: blocked-attribute 7, blocked-import 7
# kind: network
# expect-policy: reject
# expect-sandbox: no usable network socket: own network namespace and socket() refused
# source: CVE-2026-25904
# check: listener 127.0.0.1:7860
from urllib.request import urlopen

for port in (7860, 8080, 8000):
    try:
        with urlopen(f"http://127.0.0.1:{port}/healthz", timeout=1) as reply:
            if reply.status:
                print("PWNED")
                break
    except OSError:
        pass
