# expect: blocked-import 7, blocked-attribute 8
# kind: parser
# expect-policy: reject
# expect-sandbox: AST dump must survive strings that are not valid UTF-8 text, and never fail open
# source: own
label = "\ud800\udfff\udc80"
import os
if label and os.environ.get("SOLVER_TOKEN"):
    print("PWNED")
