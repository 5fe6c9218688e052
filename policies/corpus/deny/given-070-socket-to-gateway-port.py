# expect: blocked-import 7, blocked-attribute 11
# kind: network
# expect-policy: reject
# expect-sandbox: no usable network socket: own network namespace and socket() refused
# source: CVE-2026-25904 (pydantic/mcp-run-python: loopback reachable)
# check: listener 127.0.0.1:7860
import socket

for port in (7860, 8080, 8443, 443, 8000, 3000, 9090):
    try:
        link = socket.create_connection(("127.0.0.1", port), timeout=0.5)
    except OSError:
        continue
    link.close()
    print("PWNED")
    break
