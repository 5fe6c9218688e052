# expect: private-attribute 6
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: zopefoundation/RestrictedPython#142
every = ().__class__.__base__.__subclasses__()
for cls in every:
    if cls.__name__ == "_wrap_close":
        scope = cls.__init__.__globals__
        if scope["environ"].get("SOLVER_TOKEN"):
            print("PWNED")
