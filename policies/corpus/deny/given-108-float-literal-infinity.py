# expect: blocked-import 7, blocked-attribute 8
# kind: parser
# expect-policy: reject
# expect-sandbox: AST dump must survive constants that JSON cannot hold, and never fail open
# source: own (1e999 is inf; json.dumps writes the invalid token Infinity)
limit = 1e999
import os
if os.environ.get("SOLVER_TOKEN") and limit > 0:
    print("PWNED")
