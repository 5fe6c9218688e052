# expect: dunder-in-text 9, blocked-attribute 11, blocked-path 11, code-in-text 11
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: own (mpmath.identify evaluates the constants it is given)
import mpmath

hits = []
probe = "[c for c in [__import__('os').environ.get('SOLVER_TOKEN')] if c] and pi"
try:
    answer = mpmath.identify(mpmath.mpf("3.14159265358979"), [probe])
except Exception:
    answer = None
if answer and "SOLVER" in str(answer):
    print("PWNED")
