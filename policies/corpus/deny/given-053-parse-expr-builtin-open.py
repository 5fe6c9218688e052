# expect: code-in-text 8
# kind: fs-read
# expect-policy: reject
# expect-sandbox: host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: sympy/sympy#27763
from sympy.parsing.sympy_parser import parse_expr

size = parse_expr("len(open('/etc/hostname').read())")
if size > 0:
    print("PWNED")
