# expect: blocked-name 7
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: crewAIInc/crewAI#4643
u = chr(95) * 2
table = vars(type)
list_children = table[u + "subclasses" + u]
for cls in list_children(object):
    if repr(cls) == "<class 'os._wrap_close'>":
        fn = vars(cls)["close"]
        scope = [v for k, v in [(n, getattr(fn, n)) for n in dir(fn)] if k == u + "globals" + u][0]
        if scope["environ"].get("SOLVER_TOKEN"):
            print("PWNED")
