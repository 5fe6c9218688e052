# expect: blocked-import 6, blocked-name 11
# kind: info-leak
# expect-policy: reject
# expect-sandbox: /proc shows only the request's own processes, all without secrets
# source: Certora/AutoProver#73
import os

pid = os.getppid()
for name in (pid, 1):
    try:
        with open(f"/proc/{name}/environ", "rb") as src:
            if b"SOLVER_TOKEN=" in src.read():
                print("PWNED")
                break
    except OSError:
        pass
