# profile: solve
# kind: protocol
# expect-policy: allow
# expect-sandbox: rendering of guest objects happens inside the limits and with stdout still captured
# source: own (seed 002 calls str(error) after stdout is restored)
# detect: the decoded answer contains PWNED
# check: worker
# note: nothing suspicious for a static check: __str__ in an exception class is ordinary
frame = '{"ok": true, "output": "\\u0050WNED"}'

class Failure(Exception):
    def __str__(self):
        print(frame)
        return "plain failure"

raise Failure()
