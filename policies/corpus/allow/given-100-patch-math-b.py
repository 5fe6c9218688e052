# profile: solve, tool
# kind: state-leak
# expect-policy: allow
# expect-sandbox: see the first half
# source: dimagi/open-chat-studio#4239
# after: 099-patch-math-a.py
# check: worker-pair-second
# note: a harmless program by itself; must answer normally
import math

if math.sqrt(4.0) == -1.0:
    print("PWNED")
