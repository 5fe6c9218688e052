# expect: private-attribute 10, dunder-in-text 11, blocked-attribute 18
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: mcp-use/mcp-use#1735
def area(r):
    return r * r

match area:
    case object(__globals__=scope):
        b = scope["__builtins__"]

match b:
    case dict():
        fetch = b["__import__"]
    case object(__import__=imp):
        fetch = imp
if fetch("os").environ.get("SOLVER_TOKEN"):
    print("PWNED")
