# expect: partial-module 9; profile: solve
# kind: protocol
# expect-policy: reject
# expect-sandbox: guest stdin is empty (/dev/null); requests never arrive on it
# source: own
# check: stdin
import sys

pending = sys.stdin.read(1)
if pending:
    print("PWNED")
