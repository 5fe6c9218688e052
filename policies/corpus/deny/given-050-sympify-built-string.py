# expect: code-in-text 11
# kind: attribute-walk
# expect-policy: allow
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: CVE-2026-55546 (parse_expr on unsanitised input)
# note: needs the runtime guard inside sympy's parser (AST check of the string) or the sandbox
import sympy as sp

u = chr(95) * 2
text = u + "import" + u + "('os').environ.get('SOLVER" + chr(95) + "TOKEN', '') and 7"
if sp.sympify(text) == 7:
    print("PWNED")
