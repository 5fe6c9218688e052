# expect: private-attribute 7, dunder-in-text 8, blocked-attribute 10
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: browser-use/browser-use#4679
half = lambda v: v / 2
scope = half.__globals__
b = scope["__builtins__"]
fetch = b["__import__"] if isinstance(b, dict) else b.__import__
if fetch("os").environ.get("SOLVER_TOKEN"):
    print("PWNED", half(3))
