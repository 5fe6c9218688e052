# expect: code-in-text 8, dunder-in-text 8
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: sympy/sympy#10805; CVE-2024-46946
import sympy as sp

value = sp.sympify("__import__('os').environ.get('SOLVER_TOKEN', '') and 7")
if value == 7:
    print("PWNED")
