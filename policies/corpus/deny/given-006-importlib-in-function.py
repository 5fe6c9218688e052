# expect: blocked-import 7, blocked-attribute 8
# kind: import
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: own
def load(name):
    import importlib
    return importlib.import_module(name)

if load("os").environ.get("SOLVER_TOKEN"):
    print("PWNED")
