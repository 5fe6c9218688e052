# expect: code-in-text 9, dunder-in-text 9
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: sympy/sympy#24990
import sympy as sp

x = sp.Symbol("x")
trap = sp.Symbol("__import__('os').environ.get('SOLVER_TOKEN', '')")
f = sp.lambdify([x], trap)
if f(1):
    print("PWNED")
