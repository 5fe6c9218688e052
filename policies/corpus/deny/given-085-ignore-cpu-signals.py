# expect: blocked-import 7, blocked-attribute 11
# kind: cpu
# expect-policy: reject
# expect-sandbox: hard RLIMIT_CPU plus outside wall clock kill
# source: own
# check: cage
import signal
import time

for number in (signal.SIGALRM, signal.SIGXCPU, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
signal.alarm(0)
SECONDS = 150  # check-with: 2
end = time.monotonic() + SECONDS
while time.monotonic() < end:
    pass
print("PWNED")
