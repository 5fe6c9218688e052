# expect: blocked-attribute 10, partial-module 10
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: openswarm-ai/openswarm#134 (sys.modules reached through an allowed name)
# note: sympy 1.14 keeps the same reference at sympy.core.intfunc.sys
import sympy as sp

x = sp.Symbol("x")
mods = sp.core.numbers.sys.modules
if mods["os"].environ.get("SOLVER_TOKEN"):
    print("PWNED", sp.diff(x**2, x))
