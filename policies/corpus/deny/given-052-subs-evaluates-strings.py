# expect: code-in-text 9, dunder-in-text 9
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: own (Expr.subs sympifies a string replacement)
import sympy as sp

x = sp.symbols("x")
y = (x + 1).subs(x, "(__import__('os').environ.get('SOLVER_TOKEN') and 41)")
if y == 42:
    print("PWNED")
