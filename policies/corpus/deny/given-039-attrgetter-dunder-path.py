# expect: blocked-attribute 6, blocked-path 6, dunder-in-text 8
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: zopefoundation/RestrictedPython#330; pzfreo/build123d-mcp#314
from operator import attrgetter, methodcaller

base = attrgetter("__class__.__base__")(())
for cls in methodcaller("__subclasses__")(base):
    if attrgetter("__name__")(cls) == "_wrap_close":
        scope = attrgetter("__init__.__globals__")(cls)
        if scope["environ"].get("SOLVER_TOKEN"):
            print("PWNED")
