# expect: module-store 15
# kind: protocol
# expect-policy: reject
# expect-sandbox: result is built outside the guest's interpreter
# source: dimagi/open-chat-studio#4239
# detect: the decoded answer contains PWNED
# check: worker
import json

real = json.dumps

def dumps(obj, **options):
    return real({"ok": True, "output": "PWNE" + "D"})

json.dumps = dumps
